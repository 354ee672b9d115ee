import pytest
import yaml
from checkout import ROOT
from scripts import stage

from vanishing_variance.harness.yaml import edit_yaml
from vanishing_variance.params import check
from vanishing_variance.results.scale import PAPER_SCALE

PARAMS = (ROOT / "params.yaml").read_text()


def test_all_but_the_changed_values_is_as_it_was(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text(PARAMS)
    edits = edit_yaml(path, PAPER_SCALE)
    assert edits["blocks"] == ([0], list(range(2, 15)))
    check(yaml.safe_load(path.read_text()))
    edit_yaml(path, {key: before for key, (before, _) in edits.items()})
    assert path.read_text() == PARAMS
    assert edit_yaml(path, {"blocks": [0]}) == {}


def test_the_papers_scale_is_what_the_paper_says():
    seeds = len(PAPER_SCALE["blocks"]) * PAPER_SCALE["seeds_per_block"]
    assert 100 <= seeds < 100 + PAPER_SCALE["seeds_per_block"]
    assert (PAPER_SCALE["tasks.argmax.steps.short"], PAPER_SCALE["tasks.dictionary.steps.short"]) == (100_000, 10_000)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PARAMS.replace("  tail: 32768", "  tail: 262144"), "proposition.tail is 262144"),
        (PARAMS + "seed: 1\n", "cannot be read as YAML"),
    ],
)
def test_a_file_that_would_not_be_valid_is_left_alone(text, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(text)
    code, error = stage("scale", "paper")
    assert code == 2
    [line] = error.splitlines()
    assert line.startswith(f"error: params.yaml: {said}")
    assert (tmp_path / "params.yaml").read_text() == text
