"""The estimate of how long a study trains: every run counts, whatever the others are."""

from pathlib import Path

import pytest
from checkout import ROOT

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.studies import duration
from vanishing_variance.studies.plan import study_plan
from vanishing_variance.studies.study import read_study
from vanishing_variance.studies.tuning import Tuned

A_STEP = 0.01


def seconds_of(lines, steps):
    """Return the estimate of a study of argmax with so many steps, where a step of four seeds takes A_STEP."""
    study = {"question": "How long?", "tasks": ["argmax"], "base": {"tasks.argmax.steps.short": steps}, "lines": lines}
    write_text(Path("studies/mine/study.yaml"), written(study))
    return duration.seconds_of("mine", study_plan("mine", read_study("mine"), read_yaml(ROOT / "params.yaml"), Tuned()))


@pytest.fixture(autouse=True)
def _steps_of_equal_length(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(duration, "_of_steps", lambda kinds: [A_STEP * len(kind.at_once) / 4 for kind in kinds])
    monkeypatch.setattr(duration, "cores", lambda: 2)


def test_runs_of_all_kinds_are_counted_though_each_alone_is_short():
    lines = {name: {"norm": name} for name in ("none", "ln", "std")}
    assert seconds_of(lines, steps=10_000) == pytest.approx(3 * 10_000 * A_STEP)


def test_of_few_steps_in_all_nothing_is_said():
    assert seconds_of({"none": {"norm": "none"}}, steps=1000) == 0
