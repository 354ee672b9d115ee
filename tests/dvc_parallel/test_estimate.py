"""What is known of the work of a stage."""

import json
import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from dvc_parallel import estimate
from dvc_parallel.estimate import Estimate
from dvc_parallel.files import own_folder

COMMANDS = {"train@1": ("sleep 3",), "train@2": ("sleep 3",), "test": ("sleep 1",), "data.dvc": ()}


@pytest.fixture(autouse=True)
def _repository(tmp_path, monkeypatch):
    (tmp_path / ".dvc").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def declared(monkeypatch):
    """Declares estimators."""

    def declare(*estimators):
        own = {f"own{number}": estimator for number, estimator in enumerate(estimators)}
        monkeypatch.setitem(sys.modules, "project", SimpleNamespace(**own))
        points = [EntryPoint(name, f"project:{name}", estimate.GROUP) for name in own]
        monkeypatch.setattr(estimate, "entry_points", lambda group: points)

    declare()
    return declare


def test_nothing_is_known_of_what_never_ran_but_that_dvc_does_what_has_no_command(declared):
    assert Estimate(COMMANDS).seconds == {"data.dvc": 0.0}


def test_what_ran_takes_as_long_again_and_what_never_did_as_long_as_its_kind(declared):
    Estimate(COMMANDS).note({"train@0": 10.0, "train@1": 30.0})
    Estimate(COMMANDS).note({"train@0": 20.0, "gone": 1.0})
    assert Estimate(COMMANDS).seconds == {"data.dvc": 0.0, "train@1": 30.0, "train@2": 25.0}
    assert Estimate(COMMANDS).finished("train@1", 0.3) == 0.3


@pytest.mark.parametrize("damaged", ["", "[]", "{", '{"a": "x"}', '{"a": null}', "[" * 100_000, b"\xff"])
def test_damaged_notes_are_none(declared, damaged):
    own_folder().mkdir(parents=True)
    (own_folder() / estimate.NOTED).write_bytes(damaged if isinstance(damaged, bytes) else damaged.encode())
    assert Estimate(COMMANDS).seconds == {"data.dvc": 0.0}


def test_a_disk_that_takes_no_notes_does_not_matter(declared):
    own_folder().parent.mkdir(parents=True)
    own_folder().touch()
    Estimate(COMMANDS).note({"train@0": 10.0})
    assert Estimate(COMMANDS).seconds == {"data.dvc": 0.0}


def test_a_project_estimates_what_it_knows(declared):
    Estimate(COMMANDS).note({"test": 3.0, "train@1": 30.0})
    declared(lambda commands: {name: (7.0, lambda far: far**2) for name in commands if name == "train@1"})
    known = Estimate(COMMANDS)
    assert known.seconds == {"data.dvc": 0.0, "train@1": 7.0, "train@2": 7.0, "test": 3.0}
    assert (known.finished("train@1", 0.5), known.finished("test", 0.5)) == (0.25, 0.5)


def test_an_estimator_that_fails_is_named_and_does_not_matter(declared, capsys):
    declared(lambda commands: {}["a\nkey"], lambda commands: {"test": (2.0, lambda far: None)})
    assert Estimate(COMMANDS).seconds == {"data.dvc": 0.0, "test": 2.0}
    assert capsys.readouterr().err == "WARNING: project:own0: KeyError('a\\nkey')\n"


def test_notes_are_readable(declared):
    Estimate(COMMANDS).note({"test": 3.0})
    assert json.loads((own_folder() / estimate.NOTED).read_text()) == {"test": 3.0}
