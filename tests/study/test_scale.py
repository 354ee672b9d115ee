import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from vanishing_variance.core.errors import InputError
from vanishing_variance.parameters import check
from vanishing_variance.study.edited import edit_yaml
from vanishing_variance.study.scale import SCALES, changed, of_paper, scale

ROOT = Path(__file__).resolve().parents[2]
PARAMS = ROOT / "params.yaml"


def test_there_and_back_again_leaves_every_byte_and_comment(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text(PARAMS.read_text())
    edit_yaml(path, scale("default"))
    default = path.read_text()
    changed = edit_yaml(path, scale("paper"))
    assert changed["blocks"] == ([0], list(range(2, 15)))
    assert path.read_text().count("#") == default.count("#")
    check(yaml.safe_load(path.read_text()))
    edit_yaml(path, scale("default"))
    assert path.read_text() == default


def test_the_papers_scale_is_what_the_paper_says():
    values = scale("paper")
    assert 100 <= len(values["blocks"]) * values["seeds_per_block"] < 100 + values["seeds_per_block"]
    assert values["tasks.argmax.steps.short"] == 100_000
    assert values["tasks.dictionary.steps.short"] == 10_000
    assert values["test.sequences"] >= 4_096
    assert SCALES["default"].keys() == values.keys()


def test_an_edit_touches_nothing_but_its_keys_and_writes_nothing_when_all_is_so(tmp_path):
    path = tmp_path / "some.yaml"
    text = "a:\n  b: [1]   # why\n  c: 1.0e-5\nd: 'quoted'  # and this\n"
    path.write_text(text)
    before = path.stat().st_mtime_ns
    assert edit_yaml(path, {"a.b": [1]}) == {}
    assert path.stat().st_mtime_ns == before
    assert edit_yaml(path, {"a.b": [1, 2]}) == {"a.b": ([1], [1, 2])}
    assert path.read_text() == text.replace("[1]   #", "[1, 2] #")


def test_steps_stand_beside_the_papers():
    assert of_paper("argmax", 80_000) == "80,000 of the paper's 100,000 gradient steps"
    assert of_paper("argmax", 100_000) == "the paper's 100,000 gradient steps"
    assert of_paper("dictionary", 100_000) == "100,000 gradient steps"
    assert of_paper("another", 80_000) == "80,000 gradient steps"


def test_an_unknown_scale_lists_the_scales():
    with pytest.raises(InputError, match=r"^scale: 'big' is unknown; choose from default, paper$"):
        scale("big")


def test_the_default_scale_is_that_of_the_committed_parameters():
    show = ["git", "show", "HEAD:params.yaml"]
    committed = yaml.safe_load(subprocess.run(show, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert changed(committed, scale("default")) == committed


def test_a_key_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"^params\.yaml: it has no key tasks\.argmax\.steps\.short$"):
        changed({"tasks": {"argmax": None}}, {"tasks.argmax.steps.short": 1})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PARAMS.read_text().replace("  tail: 32768", "  tail: 262144"), "proposition.tail is 262144; must leave"),
        (PARAMS.read_text() + "seed: 1\n", "cannot be read as YAML"),
    ],
)
def test_a_file_that_would_not_be_valid_is_left_alone(text, said, tmp_path):
    (tmp_path / "params.yaml").write_text(text)
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "stages.scale", "default"]
    done = subprocess.run(command, cwd=tmp_path, env=here, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: params.yaml: ")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "params.yaml").read_text() == text
