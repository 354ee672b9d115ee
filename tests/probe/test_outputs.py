from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from rounding import rounding

from vanishing_variance.probe import deviations
from vanishing_variance.probe.deviations import last_outputs


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


def rotary_by_hand(decoder, hidden, layer, head, positions):
    """Query heads 2j and 2j + 1 share key-value head j."""
    block = decoder.model.layers[layer]
    normed = block.input_layernorm(hidden).double()
    width = decoder.head_width(layer)

    def project(name, head):
        rows = slice(width * head, width * (head + 1))
        linear = getattr(block.self_attn, name)
        bias = 0 if linear.bias is None else linear.bias[rows].double()
        return (normed @ linear.weight[rows].double().T + bias).numpy()

    queries, keys = project("q_proj", head), project("k_proj", head // 2)
    if positions:
        queries, keys = rotated(queries), rotated(keys)
    return attend(queries[-1], keys, project("v_proj", head // 2))


@pytest.mark.parametrize("kind", ["llama", "qwen2"])
@pytest.mark.parametrize("positions", [True, False])
def test_o_is_attention_by_hand_and_then_the_projection(loaded, kind, positions):
    """Of the first layer from the embeddings on; with positions also of the second, from what the model gives it."""
    decoder, _ = loaded[kind]
    model = decoder.model
    tokens = draw_tokens(model, 3)
    found = last_outputs(decoder, tokens, [1, 0], positions)
    with torch.no_grad():
        read = {0: model.embed_tokens.weight[tokens]}
        if positions:
            states = model(input_ids=torch.from_numpy(tokens), output_hidden_states=True).hidden_states
            read[1] = states[1]
        for layer, sequence, head in product(read, range(3), range(4)):
            expected = rotary_by_hand(decoder, read[layer][sequence], layer, head, positions)
            of_head = found["before", layer][sequence].reshape(4, -1)[head]
            assert_allclose(of_head, expected, rtol=0, atol=allowed(model, expected))
        projected = decoder.projections[0](torch.from_numpy(found["before", 0]))
    assert_allclose(found["after", 0], projected, rtol=0, atol=allowed(model, projected.numpy()))


def test_the_model_is_as_before_afterwards_and_batches_do_not_matter(loaded, monkeypatch):
    decoder, _ = loaded["llama"]
    tokens = draw_tokens(decoder.model, 5)
    first = last_outputs(decoder, tokens, [0, 1], True)["before", 1]
    last_outputs(decoder, tokens, [0, 1], False)
    assert np.array_equal(last_outputs(decoder, tokens, [0, 1], True)["before", 1], first)
    monkeypatch.setattr(deviations, "TOKENS", 20)
    again = last_outputs(decoder, tokens, [0, 1], True)["before", 1]
    assert_allclose(again, first, rtol=0, atol=allowed(decoder.model, first))
