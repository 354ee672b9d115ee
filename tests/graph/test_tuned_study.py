"""A study that tunes its lines, made in two copies: undisturbed, and killed again and again."""

import os
import random
import signal
import time

import pytest
from checkout import Copy
from processes import wait_for

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.yaml import read_yaml

pytestmark = pytest.mark.slow

STUDY = """question: Which is best at its best rate?
tasks: [argmax]
sequences: 64
base: {tasks.argmax.steps.short: 800, model.width: 16}
tune: {training.learning_rate: [0.002, 0.004]}
choose: {blocks: [1], grow: 1, refine: 1}
lines: {none: {norm: none}, ln: {norm: ln}}
"""
MAKE = ("env", "PYTHONPATH=src", "python", "-m", "vanishing_variance.studies.make", "mine")
KILLS = 3


def begun(copy, log):
    """Return a making of the study that has begun."""
    with log.open("w") as file:
        return copy.start(*MAKE, stdout=file)


def results(copy):
    """Return the text of each file that the study leaves to git, but the lock, which says how long stages took."""
    folder = copy.path / "studies/mine"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*") if path.name != "dvc.lock"}


def test_killed_again_and_again_a_tuned_study_makes_the_same_choice_and_board(tmp_path):
    copies = []
    for name in ("undisturbed", "killed"):
        copy = Copy.of_this_checkout(tmp_path / name)
        write_text(copy.path / "studies/mine/study.yaml", STUDY)
        copies.append(copy)
    undisturbed, killed = copies
    undisturbed(*MAKE)
    moments, log = random.Random(0), tmp_path / "log"
    for _ in range(KILLS):
        making = begun(killed, log)
        stages = moments.randint(1, 6)
        wait_for(lambda: making.poll() is not None or log.read_text().count("Running stage") >= stages, 900)  # noqa: B023
        time.sleep(moments.uniform(0, 3))
        if making.poll() is None:
            os.killpg(making.pid, signal.SIGKILL)
        making.wait()
    killed(*MAKE)
    expected = results(undisturbed)
    assert {"choice.yaml", "settings.csv", "board.csv", "board.md"} < set(expected)
    assert results(killed) == expected
    tried = read_yaml(undisturbed.path / "studies/mine/choice.yaml")["argmax"]
    assert all(any("chosen" in setting for setting in settings) for settings in tried.values())
