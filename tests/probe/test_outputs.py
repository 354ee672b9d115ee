from itertools import product

import numpy as np
import pytest
import torch
from rounding import rounding
from torch.nn.functional import layer_norm

from vanishing_variance.probe import outputs
from vanishing_variance.probe.outputs import last_outputs

KINDS = ["llama", "bert", "packaged"]


def allowed(model, expected):
    """Of queries, keys, values: sums over the hidden width, of what comes before and of the projection; twice that."""
    return rounding(8 * model.config.hidden_size, np.abs(expected).max())


def tokens_for(model, sequences=3, length=9):
    return np.random.default_rng(0).integers(3, model.config.vocab_size, (sequences, length))


def rotated(vectors):
    """Rotary positions as pairs (i, i + d/2) of complex numbers, turned by n * theta^(-2i/d) at position n."""
    length, width = vectors.shape
    angles = np.arange(length)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    turned = (vectors[:, : width // 2] + 1j * vectors[:, width // 2 :]) * np.exp(1j * angles)
    return np.concatenate([turned.real, turned.imag], axis=1)


def llama_by_hand(model, hidden, layer, head, positions):
    """softmax(q K^T / sqrt(d)) V of one sequence's last query; query heads 2j and 2j + 1 share key-value head j."""
    block = model.layers[layer]
    normed = block.input_layernorm(hidden).double()
    q, k, v = (
        (normed @ getattr(block.self_attn, f"{name}_proj").weight.double().T).unflatten(-1, (-1, 12)).numpy()
        for name in "qkv"
    )
    queries, keys, values = q[:, head], k[:, head // 2], v[:, head // 2]
    if positions:
        queries, keys = rotated(queries), rotated(keys)
    weights = np.exp(keys @ queries[-1] / 12**0.5)
    return weights @ values / weights.sum()


def bert_by_hand(model, hidden, layer, head, _):
    own = model.encoder.layer[layer].attention.self
    width = model.config.hidden_size // model.config.num_attention_heads
    part = slice(head * width, (head + 1) * width)
    queries, keys, values = (
        (hidden.double() @ one.weight[part].double().T + one.bias[part].double()).numpy()
        for one in (own.query, own.key, own.value)
    )
    weights = np.exp(keys @ queries[-1] / width**0.5)
    return weights @ values / weights.sum()


def embedded(model, tokens, positions):
    """What layer 0 reads, (S, N, hidden)."""
    if model.config.model_type == "llama":
        return model.embed_tokens.weight[tokens]
    own = model.embeddings
    together = own.word_embeddings.weight[tokens] + own.token_type_embeddings.weight[0]
    if positions:
        together = together + own.position_embeddings.weight[: tokens.shape[1]]
    return layer_norm(
        together, together.shape[-1:], own.LayerNorm.weight, own.LayerNorm.bias, model.config.layer_norm_eps
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("positions", [True, False])
def test_o_is_attention_by_hand_before_the_projection(loaded, kind, positions):
    """Of the first layer from the embeddings on; with positions also of the second, from what the model gives it."""
    model, family, _ = loaded[kind]
    tokens, by_hand = tokens_for(model), llama_by_hand if kind == "llama" else bert_by_hand
    found = last_outputs(model, family, tokens, [1, 0], positions)
    with torch.no_grad():
        read = {0: embedded(model, tokens, positions)}
        if positions:
            read[1] = model(input_ids=torch.from_numpy(tokens), output_hidden_states=True).hidden_states[1]
        for layer, hidden in read.items():
            for head, sequence in product(range(model.config.num_attention_heads), range(len(tokens))):
                expected = by_hand(model, hidden[sequence], layer, head, positions)
                tolerance = allowed(model, expected)
                np.testing.assert_allclose(found[sequence, 1 - layer, head], expected, rtol=0, atol=tolerance)


def hooks(model):
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())


@pytest.mark.parametrize("kind", ["llama", "bert"])
def test_the_model_is_as_before_afterwards_and_batches_do_not_matter(loaded, kind, monkeypatch):
    model, family, _ = loaded[kind]
    tokens, before = tokens_for(model, sequences=5), hooks(model)
    first = last_outputs(model, family, tokens, [0, 1], True)
    last_outputs(model, family, tokens, [0, 1], False)
    assert np.array_equal(last_outputs(model, family, tokens, [0, 1], True), first)
    assert hooks(model) == before
    monkeypatch.setattr(outputs, "BATCH", 20)
    again = last_outputs(model, family, tokens, [0, 1], True)
    np.testing.assert_allclose(again, first, rtol=0, atol=allowed(model, first))
