from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from rounding import rounding
from transformers import AutoConfig, AutoModel

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


def gpt2_by_hand(decoder, hidden, layer, head, positions):
    """Positions are in what it reads; its matrices are transposed, and Q, K and V are one of them."""
    block = decoder.model.h[layer]
    together = block.ln_1(hidden).double() @ block.attn.c_attn.weight.double() + block.attn.c_attn.bias.double()
    queries, keys, values = together.numpy().reshape(len(hidden), 3, 4, 8)[:, :, head].swapaxes(0, 1)
    return attend(queries[-1], keys, values)


def embedded(model, tokens, positions):
    """Return what layer 0 reads, (S, N, hidden)."""
    vectors = model.get_input_embeddings().weight[tokens]
    if model.config.model_type == "gpt2" and positions:
        return vectors + model.wpe.weight[: tokens.shape[1]]
    return vectors


@pytest.mark.parametrize("kind", ["llama", "qwen2", "gpt2"])
@pytest.mark.parametrize("positions", [True, False])
def test_o_is_attention_by_hand_and_then_the_projection(loaded, kind, positions):
    """Of the first layer from the embeddings on; with positions also of the second, from what the model gives it."""
    decoder, _ = loaded[kind]
    model = decoder.model
    tokens = draw_tokens(model, 3)
    by_hand = gpt2_by_hand if kind == "gpt2" else rotary_by_hand
    found = last_outputs(decoder, tokens, [1, 0], positions)
    with torch.no_grad():
        read = {0: embedded(model, tokens, positions)}
        if positions:
            states = model(input_ids=torch.from_numpy(tokens), output_hidden_states=True).hidden_states
            read[1] = states[1]
        for layer, sequence, head in product(read, range(3), range(4)):
            expected = by_hand(decoder, read[layer][sequence], layer, head, positions)
            of_head = found["before", layer][sequence].reshape(4, -1)[head]
            assert_allclose(of_head, expected, rtol=0, atol=allowed(model, expected))
        projected = decoder.projections[0](torch.from_numpy(found["before", 0]))
    assert_allclose(found["after", 0], projected, rtol=0, atol=allowed(model, projected.numpy()))


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_the_model_is_as_before_afterwards_and_batches_do_not_matter(loaded, kind, monkeypatch):
    decoder, _ = loaded[kind]
    tokens = draw_tokens(decoder.model, 5)
    first = last_outputs(decoder, tokens, [0, 1], True)["before", 1]
    last_outputs(decoder, tokens, [0, 1], False)
    assert np.array_equal(last_outputs(decoder, tokens, [0, 1], True)["before", 1], first)
    monkeypatch.setattr(deviations, "TOKENS", 20)
    again = last_outputs(decoder, tokens, [0, 1], True)["before", 1]
    assert_allclose(again, first, rtol=0, atol=allowed(decoder.model, first))


SIZES = {"hidden_size": 32, "num_hidden_layers": 4, "vocab_size": 64, "num_attention_heads": 4, "pad_token_id": 0}
SIZES |= {"intermediate_size": 16, "num_key_value_heads": 2, "initializer_range": 0.3}
HYBRID = {"layer_types": ["linear_attention", "full_attention"] * 2, "num_experts": 2, "num_experts_per_tok": 1}
GRIFFIN = {"lru_width": 32, "block_types": ["recurrent", "recurrent", "attention"], "attention_window_size": 16}


def of_type(name, **sizes):
    torch.manual_seed(0)
    return AutoModel.from_config(AutoConfig.for_model(name, **SIZES, **sizes)).eval()


@pytest.mark.parametrize(
    ("name", "sizes", "projection", "layers", "loses"),
    [
        ("roberta", {}, "encoder.layer.{}.attention.output.dense", [0, 1, 2, 3], True),
        ("qwen3_next", HYBRID, "layers.{}.self_attn.o_proj", [1, 3], False),
        ("recurrent_gemma", GRIFFIN, "layers.{}.temporal_block.o_proj", [2], False),
    ],
)
def test_it_reads_the_outputs_of_heads_and_not_what_else_differs_between_sequences(
    name, sizes, projection, layers, loses
):
    """RoBERTa counts positions without padding, here token 0; other mixers than attention have projections, too."""
    decoder = dissect(of_type(name, **sizes))
    modules = dict(decoder.model.named_modules())
    assert decoder.projections == {layer: modules[projection.format(layer)] for layer in layers}
    assert list(decoder.tables) == [module for name, module in modules.items() if "position_embeddings" in name]
    assert decoder.loses_positions() == loses


@pytest.mark.parametrize(("name", "attentions"), [("mamba", 0), ("albert", 4), ("diffllama", 8)])
def test_a_model_is_refused_whose_heads_outputs_no_projection_of_one_layer_reads(name, attentions):
    """ALBERT's layers share one, and DiffLlama's reads differences of them."""
    said = f"{attentions} layers with attention were found, and 0 output projections that read the heads' outputs"
    with pytest.raises(ValueError, match=said):
        dissect(of_type(name))
