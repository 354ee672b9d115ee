from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from rounding import rounding
from transformers import AutoConfig, AutoModel

from vanishing_variance.harness.errors import InputError
from vanishing_variance.probe import deviations
from vanishing_variance.probe.decoder import dissect
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


@pytest.fixture
def of_type():
    """Small models of a type, random."""
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    sizes |= {"head_dim": 8, "intermediate_size": 16, "vocab_size": 64, "pad_token_id": None, "eos_token_id": 2}
    return lambda name, **others: AutoModel.from_config(AutoConfig.for_model(name, **sizes, **others)).eval()


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("mistral", {"sliding_window": 6}),
        ("phi3", {"sliding_window": 6}),
        ("gemma2", {"sliding_window": 6}),  # its masks are numbers
        ("qwen2", {"use_sliding_window": True, "max_window_layers": 0, "sliding_window": 6}),
        ("llama4_text", {"attention_chunk_size": 6}),
    ],
)
def test_a_length_beyond_a_window_or_chunk_of_a_measured_layer_is_refused_in_one_line(of_type, name, window):
    decoder = dissect(of_type(name, **window), 1)
    said = r"^params.yaml: probe.lengths has 9; must be at most 6: layer 0 attends to a window"
    tokens = draw_tokens(decoder.model, 2)
    for positions in (True, False):
        last_outputs(decoder, tokens[:, :6], [0], positions)
        with pytest.raises(InputError, match=said):
            last_outputs(decoder, tokens, [0], positions)


def test_a_layer_that_attends_to_all_is_measured_whatever_others_attend_to(of_type):
    decoder = dissect(of_type("gemma3_text", sliding_window=6, layer_types=["sliding_attention", "full_attention"]), 2)
    tokens = draw_tokens(decoder.model, 2)
    last_outputs(decoder, tokens, [1], True)
    with pytest.raises(InputError, match="layer 0 attends to"):
        last_outputs(decoder, tokens, [0, 1], True)
