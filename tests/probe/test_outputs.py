from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from rounding import rounding
from torch.nn.functional import layer_norm

from vanishing_variance.probe import outputs
from vanishing_variance.probe.outputs import last_outputs


def allowed(model, expected):
    """Of queries, keys, values: sums over the hidden width, of what comes before and of the projection; twice that."""
    return rounding(8 * model.config.hidden_size, np.abs(expected).max())


def draw_tokens(model, sequences):
    return np.random.default_rng(0).integers(3, model.config.vocab_size, (sequences, 9))


def attend(query, keys, values):
    """Return softmax(q K^T / sqrt(d)) V of one query."""
    weights = np.exp(keys @ query / len(query) ** 0.5)
    return weights @ values / weights.sum()


def rotated(vectors):
    """Rotary positions as pairs (i, i + d/2) of complex numbers, turned by n * theta^(-2i/d) at position n."""
    length, width = vectors.shape
    angles = np.arange(length)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    pairs = vectors[:, : width // 2] + 1j * vectors[:, width // 2 :]
    turned = pairs * np.exp(1j * angles)
    return np.concatenate([turned.real, turned.imag], axis=1)


def llama_by_hand(model, hidden, layer, head, positions):
    """Query heads 2j and 2j + 1 share key-value head j; a head is 12 wide."""
    block = model.layers[layer]
    normed = block.input_layernorm(hidden).double()

    def project(name, head):
        weight = getattr(block.self_attn, name).weight.double()
        return (normed @ weight[12 * head : 12 * (head + 1)].T).numpy()

    queries, keys = project("q_proj", head), project("k_proj", head // 2)
    if positions:
        queries, keys = rotated(queries), rotated(keys)
    return attend(queries[-1], keys, project("v_proj", head // 2))


def bert_by_hand(model, hidden, layer, head, positions):
    attention = model.encoder.layer[layer].attention.self
    width = model.config.hidden_size // model.config.num_attention_heads
    rows = slice(head * width, (head + 1) * width)

    def project(linear):
        return (hidden.double() @ linear.weight[rows].double().T + linear.bias[rows].double()).numpy()

    return attend(project(attention.query)[-1], project(attention.key), project(attention.value))


def embedded(model, tokens, positions):
    """Return what layer 0 reads, (S, N, hidden)."""
    if model.config.model_type == "llama":
        return model.embed_tokens.weight[tokens]
    own = model.embeddings
    sums = own.word_embeddings.weight[tokens] + own.token_type_embeddings.weight[0]
    if positions:
        sums = sums + own.position_embeddings.weight[: tokens.shape[1]]
    norm = own.LayerNorm
    return layer_norm(sums, sums.shape[-1:], norm.weight, norm.bias, model.config.layer_norm_eps)


@pytest.mark.parametrize("kind", ["llama", "bert", "packaged"])
@pytest.mark.parametrize("positions", [True, False])
def test_o_is_attention_by_hand_before_the_projection(loaded, kind, positions):
    """Of the first layer from the embeddings on; with positions also of the second, from what the model gives it."""
    model, family, _ = loaded[kind]
    tokens = draw_tokens(model, 3)
    by_hand = llama_by_hand if kind == "llama" else bert_by_hand
    found = last_outputs(model, family, tokens, [1, 0], positions)
    with torch.no_grad():
        read = {0: embedded(model, tokens, positions)}
        if positions:
            states = model(input_ids=torch.from_numpy(tokens), output_hidden_states=True).hidden_states
            read[1] = states[1]
        for layer, sequence, head in product(read, range(3), range(model.config.num_attention_heads)):
            expected = by_hand(model, read[layer][sequence], layer, head, positions)
            off = allowed(model, expected)
            assert_allclose(found[sequence, 1 - layer, head], expected, rtol=0, atol=off)


@pytest.mark.parametrize("kind", ["llama", "bert"])
def test_the_model_is_as_before_afterwards_and_batches_do_not_matter(loaded, kind, monkeypatch):
    model, family, _ = loaded[kind]
    tokens = draw_tokens(model, 5)
    first = last_outputs(model, family, tokens, [0, 1], True)
    last_outputs(model, family, tokens, [0, 1], False)
    assert np.array_equal(last_outputs(model, family, tokens, [0, 1], True), first)
    monkeypatch.setattr(outputs, "TOKENS", 20)
    again = last_outputs(model, family, tokens, [0, 1], True)
    assert_allclose(again, first, rtol=0, atol=allowed(model, first))
