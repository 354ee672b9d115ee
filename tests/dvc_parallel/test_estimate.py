"""What is known of the work of a stage, and the time that is left, by a clock that the tests set."""

import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from dvc_parallel import estimate
from dvc_parallel.estimate import Estimate
from dvc_parallel.files import own_folder
from dvc_parallel.remaining import Remaining, about

COMMANDS = {"train@1": ("sleep 3",), "train@2": ("sleep 3",), "test": ("sleep 1",), "data.dvc": ()}
WORK = {"train@a": 100.0, "train@b": 50.0, "evaluate@a": 40.0, "small": 1.0, "data": 0.0}


@pytest.fixture(autouse=True)
def declare(tmp_path, monkeypatch):
    """Declares estimators, none at first; an empty repository."""

    def declare(*estimators):
        own = {f"own{number}": estimator for number, estimator in enumerate(estimators)}
        monkeypatch.setitem(sys.modules, "project", SimpleNamespace(**own))
        points = [EntryPoint(name, f"project:{name}", estimate.GROUP) for name in own]
        monkeypatch.setattr(estimate, "entry_points", lambda group: points)

    (tmp_path / ".dvc").mkdir()
    monkeypatch.chdir(tmp_path)
    declare()
    return declare


def test_what_ran_takes_as_long_again_and_what_never_did_as_long_as_its_kind():
    assert Estimate(COMMANDS).seconds == {"data.dvc": 0.0}
    Estimate(COMMANDS).note({"train@0": 10.0, "train@1": 30.0})
    Estimate(COMMANDS).note({"train@0": 20.0, "gone": 1.0})
    assert Estimate(COMMANDS).seconds == {"data.dvc": 0.0, "train@1": 30.0, "train@2": 25.0}


@pytest.mark.parametrize("damaged", [b"", b"[]", b"{", b'{"a": "x"}', b'{"a": null}', b"[" * 100_000, b"\xff"])
def test_damaged_notes_are_none(damaged):
    own_folder().mkdir(parents=True)
    (own_folder() / estimate.NOTED).write_bytes(damaged)
    assert Estimate(COMMANDS).seconds == {"data.dvc": 0.0}


def test_a_project_estimates_what_it_knows_and_an_estimator_that_fails_does_not_matter(declare, capsys):
    Estimate(COMMANDS).note({"test": 3.0, "train@1": 30.0})
    declare(lambda commands: {}["a\nkey"], lambda commands: {"train@1": (7.0, lambda far: far**2)})
    known = Estimate(COMMANDS)
    assert known.seconds == {"data.dvc": 0.0, "train@1": 7.0, "train@2": 7.0, "test": 3.0}
    assert (known.finished("train@1", 0.5), known.finished("test", 0.5)) == (0.25, 0.5)
    said = capsys.readouterr().err
    assert "project:own0" in said
    assert said.count("\n") == 1


class Clocked(Remaining):
    """At the time `now`."""

    def __init__(self):
        super().__init__(WORK, lambda: self.now)
        self.now = 0.0


def test_progress_tells_the_speed_but_not_of_what_a_checkpoint_had():
    remaining = Clocked()
    remaining.began("train@a")
    remaining.now = 10.0
    remaining.progressed("train@a", 0.7)
    assert remaining.left("train@a") is None
    remaining.now = 20.0
    remaining.progressed("train@a", 0.8)
    remaining.now = 25.0
    assert (remaining.left("train@a"), remaining.left("train@b")) == pytest.approx((15.0, 50.0))
    assert [word for word in about(36030.0).split() if word.isdigit()] == ["10", "0"]
