import subprocess
import sys

import pytest
import yaml
from checkout import ROOT

from stages.scale import main
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.script import run
from vanishing_variance.harness.yaml import edit_yaml
from vanishing_variance.params import check
from vanishing_variance.results.scale import changed, scale

PARAMS = (ROOT / "params.yaml").read_text()


def test_there_and_back_again_leaves_every_byte_and_comment(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text(PARAMS)
    edit_yaml(path, scale("default"))
    default = path.read_text()
    assert edit_yaml(path, scale("paper"))["blocks"] == ([0], list(range(2, 15)))
    check(yaml.safe_load(path.read_text()))
    assert edit_yaml(path, scale("default"))["blocks"] == (list(range(2, 15)), [0])
    assert path.read_text() == default
    assert edit_yaml(path, scale("default")) == {}


def test_the_papers_scale_is_what_the_paper_says():
    values = scale("paper")
    assert 100 <= len(values["blocks"]) * values["seeds_per_block"] < 100 + values["seeds_per_block"]
    assert (values["tasks.argmax.steps.short"], values["tasks.dictionary.steps.short"]) == (100_000, 10_000)


def test_the_default_scale_is_that_of_the_committed_parameters():
    show = ["git", "show", "HEAD:params.yaml"]
    committed = yaml.safe_load(subprocess.run(show, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert changed(committed, scale("default")) == committed


def test_an_unknown_scale_or_key_is_named():
    with pytest.raises(InputError, match=r"^scale: 'big' is unknown; choose from default, paper$"):
        scale("big")
    with pytest.raises(InputError, match=r"^params\.yaml: it has no key tasks\.argmax\.steps\.short$"):
        changed({"tasks": {"argmax": None}}, {"tasks.argmax.steps.short": 1})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PARAMS.replace("  tail: 32768", "  tail: 262144"), "proposition.tail is 262144"),
        (PARAMS + "seed: 1\n", "cannot be read as YAML"),
    ],
)
def test_a_file_that_would_not_be_valid_is_left_alone(text, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["scale", "default"])
    (tmp_path / "params.yaml").write_text(text)
    with pytest.raises(SystemExit) as stopped:
        run(main)
    assert stopped.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: params.yaml: {said}")
    assert (tmp_path / "params.yaml").read_text() == text
