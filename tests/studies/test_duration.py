"""The estimate of how long a study trains: every run counts, whatever the others are."""

from functools import partial
from itertools import cycle
from pathlib import Path

import pytest
from checkout import ROOT

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.studies import duration
from vanishing_variance.studies.arguments import Planned
from vanishing_variance.studies.plan import study_plan
from vanishing_variance.studies.study import read_study
from vanishing_variance.studies.tuning import Tuned

A_STEP = 0.01
SMALL = {"model.width": 8, "seeds_per_block": 2, "training.batch_size": 4}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def of_steps(monkeypatch):
    """Let a step of four seeds take A_STEP, on two cores."""
    monkeypatch.setattr(duration, "_of_steps", lambda kinds: [A_STEP * len(at_once) / 4 for _, at_once in kinds])
    monkeypatch.setattr(duration, "cores", lambda: 2)


def seconds_of(lines, steps, **base):
    """Return the estimate of a study of argmax with so many steps."""
    base = {"tasks.argmax.steps.short": steps, **base}
    study = {"question": "How long?", "tasks": ["argmax"], "base": base, "lines": lines}
    write_text(Path("studies/mine/study.yaml"), written(study))
    planned = Planned("mine", study_plan("mine", read_study("mine"), read_yaml(ROOT / "params.yaml"), Tuned()))
    return duration.seconds_of(planned, planned.runs)


@pytest.mark.usefixtures("of_steps")
def test_runs_of_all_kinds_are_counted_though_each_alone_is_short():
    lines = {name: {"norm": name} for name in ("none", "ln", "std")}
    assert seconds_of(lines, steps=10_000) == pytest.approx(3 * 10_000 * A_STEP)


@pytest.mark.usefixtures("of_steps")
def test_of_few_steps_in_all_nothing_is_said():
    assert seconds_of({"none": {"norm": "none"}}, steps=1000) == 0


@pytest.mark.trains
def test_a_step_is_measured_by_what_more_steps_take_longer_and_not_by_the_first(monkeypatch):
    monkeypatch.setattr(duration, "perf_counter", partial(next, cycle([0.0, 5.0, 10.0, 12.0, 20.0, 26.0])))
    expected = 10**6 * (6.0 - 2.0) / (duration.MORE - duration.FEW)
    assert seconds_of({"none": {"norm": "none"}}, steps=10**6, **SMALL) == pytest.approx(expected)
