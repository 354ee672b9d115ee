"""The stages of a study: a line whose training diverged, from its training to the board, and what is measured."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checkout import KEPT
from scripts import ROOT, stage

from stages import study_test, study_train
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness.errors import DivergedError, TooLargeError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.yaml import edit_yaml, read_yaml
from vanishing_variance.networks.transformer import Network
from vanishing_variance.studies.line import runs

STUDY = "question: Why?\ntasks: [argmax]\nlines: {own: {norm: none}}\nkept: [before]\ncompare: [[own, before]]\n"
OWN = ("mine", "argmax-own")
MINE = Path("studies/mine")
SAID = "seed 1: the loss is nan at step 7"


def diverges(*_):
    raise DivergedError(SAID)


def results_of(_, this):
    return pd.read_csv(MINE / "results/argmax-before.csv").assign(seed=this.block)


@pytest.fixture(autouse=True)
def _study(tmp_path, monkeypatch):
    """A planned study, in the working directory, with a line whose results are there."""
    monkeypatch.chdir(tmp_path)
    write_text(Path("params.yaml"), (ROOT / "tests/smoke.yaml").read_text().replace("blocks: [0]", "blocks: [0, 1]"))
    write_text(MINE / "study.yaml", STUDY)
    write_text(MINE / "results/argmax-before.csv", KEPT)
    assert stage("study_plan", "mine") == (0, "")


def planned():
    """Return the plans of the study, made again."""
    assert stage("study_plan", "mine") == (0, "")
    return read_yaml(MINE / "plan.yaml")


def test_a_plan_changes_with_its_own_line_and_with_no_parameter_that_the_line_overrides():
    before = planned()
    changes = {"norm": "rms", "tasks.argmax.steps.long": 7, "ranges.long.longest": 32, "interventions.sequences": 16}
    edit_yaml(Path("params.yaml"), changes)
    assert planned() == before
    write_text(MINE / "study.yaml", STUDY.replace("lines: {", "lines: {two: {norm: none, model.heads: 2}, "))
    after = planned()
    assert after["train"].keys() == after["test"].keys() == {"argmax-own", "argmax-two"}
    for part in ("train", "test"):
        assert after[part].pop("argmax-two") != after[part]["argmax-own"]
        assert after[part] == before[part]
    edit_yaml(Path("params.yaml"), {"test.sequences": 48})
    assert planned()["train"].items() >= before["train"].items()
    assert planned()["test"]["argmax-own"] != before["test"]["argmax-own"]


def test_beyond_training_begins_where_the_training_of_the_lines_ends():
    write_text(MINE / "study.yaml", STUDY.replace("lines:", "base: {ranges.short.longest: 16}\nlines:"))
    assert planned()["compare"] == {"longest": 16, "sequences": 64}


def test_a_line_that_diverges_is_a_result_which_the_board_shows(monkeypatch):
    monkeypatch.setattr(study_train, "train", diverges)
    assert stage("study_train", *OWN) == (0, "")
    assert stage("study_test", *OWN) == (0, "")
    assert read_csv(MINE / "results/argmax-own.csv", "note")["note"].tolist() == [SAID] * 2
    assert stage("study_compare", "mine") == (0, "")
    board = read_csv(MINE / "board.csv", "line", "note").set_index("line")
    assert board["note"].dropna().to_dict() == {"own": SAID}
    assert board.loc["before", "beyond"] == 37.5
    assert SAID in (MINE / "board.md").read_text()
    assert (MINE / "board.png").exists()


def test_a_line_that_no_longer_diverges_is_tested(monkeypatch):
    monkeypatch.setattr(study_train, "train", diverges)
    stage("study_train", *OWN)
    monkeypatch.setattr(study_train, "train", lambda *_: None)
    monkeypatch.setattr(study_test, "test", results_of)
    assert stage("study_train", *OWN) == (0, "")
    assert stage("study_test", *OWN) == (0, "")
    own = read_csv(MINE / "results/argmax-own.csv", "note")
    assert own["note"].isna().all()
    assert set(own["seed"]) == {0, 1}


def test_a_line_of_which_one_block_diverged_has_its_note(monkeypatch):
    monkeypatch.setattr(study_train, "train", lambda plan, this: diverges() if this.block else None)
    monkeypatch.setattr(study_test, "test", results_of)
    for script in (("study_train", *OWN), ("study_test", *OWN), ("study_compare", "mine")):
        assert stage(*script) == (0, "")
    assert read_csv(MINE / "board.csv", "line", "note").query("line == 'own'")["note"].tolist() == [SAID]


def test_a_study_of_fewer_lengths_tests_and_compares_those(monkeypatch):
    write_text(MINE / "study.yaml", STUDY + "lengths: [4, 64]\n")
    given = []
    monkeypatch.setattr(study_test, "test", lambda params, this: given.append(params["test"]) or results_of(0, this))
    assert [stage("study_plan", "mine"), stage("study_test", *OWN)] == [(0, "")] * 2
    assert given[0]["lengths"] == [4, 64]
    code, said = stage("study_compare", "mine")  # of a kept line without 64
    assert (code, "none above" in said) == (2, True)


def test_a_length_that_memory_does_not_hold_is_a_note_too(monkeypatch):
    def fails(*_):
        raise TooLargeError(SAID)

    monkeypatch.setattr(study_test, "test", fails)
    assert stage("study_test", *OWN) == (0, "")
    assert read_csv(MINE / "results/argmax-own.csv", "note")["note"].tolist() == [SAID] * 2
    assert Path("runs/studies/mine/evaluated/argmax-own/1/note.json").exists()


def test_a_network_that_does_not_take_a_batch_is_found_by_the_plan(monkeypatch):
    write_text(MINE / "study.yaml", STUDY.replace("{norm: none}", "{network: transformer}"))
    assert stage("study_plan", "mine") == (0, "")
    monkeypatch.setattr(Network, "forward", lambda self, items, query: query)
    code, said = stage("study_plan", "mine")
    assert code == 2
    assert said.startswith("error: line own: network transformer returns (")


def test_every_head_of_the_papers_network_is_measured_where_it_has_several(monkeypatch):
    write_text(MINE / "study.yaml", STUDY.replace("{norm: none}", "{norm: none, model.heads: 2}"))
    assert stage("study_plan", "mine") == (0, "")
    plan = read_yaml(MINE / "plan.yaml")["plans"]["argmax-own"]["train"]
    first = runs(plan, "argmax", "short", "mine", "own")[0]
    training = TrainingPlan.of(plan, first)
    initial = draw(training.variant.initial(training.task_training), 0, "argmax", [0, 1])
    weights = {"plain": {name: tensor.numpy() for name, tensor in initial.items()}}
    monkeypatch.setattr(study_test, "weights_by_rule", lambda this: weights)
    params = {**plan, "test": {"lengths": [4, 64]}}
    inside = study_test.heads_inside(params, first)
    rows = [(seed, 0, head, length) for length in (4, 64) for seed in (0, 1) for head in (0, 1)]
    assert inside[["seed", "layer", "head", "length"]].to_numpy().tolist() == [list(row) for row in rows]
    assert study_test.heads_inside({**params, "model": {"heads": 1}}, first) is None


def test_a_line_without_results_is_one_line():
    code, said = stage("study_compare", "mine")
    assert code == 2
    assert said.startswith("error: studies/mine/results/argmax-own.csv: ")
    assert said.count("\n") == 1


def test_a_study_of_kept_lines_alone_is_of_as_many_sequences_as_it_says():
    kept = "question: Why?\ntasks: [argmax]\nlines: {}\nkept: [before, all]\nsequences: 64\n"
    write_text(MINE / "study.yaml", kept)
    write_text(MINE / "results/argmax-all.csv", re.sub(r"0\.\d+", "1.0", KEPT))
    for script in (("study_plan", "mine"), ("study_compare", "mine")):
        assert stage(*script) == (0, "")
    assert read_yaml(MINE / "plan.yaml")["compare"] == {"longest": 4, "sequences": 64}
    gain = read_csv(MINE / "board.csv").query("line == 'all'")["log_odds"].item()
    assert gain == pytest.approx(np.log(64.5 / 0.5) - np.log(48.5 / 16.5) / 2, abs=1e-6)
