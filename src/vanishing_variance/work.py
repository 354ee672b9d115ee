"""The work of a stage by params.yaml, in seconds on one core of an AMD EPYC (Zen 5)."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from vanishing_variance.engine.ranges import training_steps
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.script import stage_name
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml

# Of a stage in any case, or where nothing else counts.
STARTUP = 2.0
FIXED = {"check": 0.3, "generate": 1.0, "capacity": 7.0, "interventions": 150.0, "figures": 6.0}
# Of a seed-step: in any case, and for each item of its sequences.
STEP = {"argmax": (1.4e-3, 1.8e-5), "dictionary": (1.9e-3, 1.2e-4)}
# Of an item of a test sequence, by task where tasks differ; and of each model that it is given to.
ITEM = {
    "temperature": {"argmax": 1e-6, "dictionary": 2.3e-6},
    "evaluate": {"argmax": 2e-7, "dictionary": 2e-7},
    "proposition": {"": 3.4e-7},
    "probe": {"": 2.1e-4},
}
# Stages of minutes of which params.yaml says nothing: the time that they took is the better guess.
UNKNOWN = ("leaderboard_train", "leaderboard_test")
PARTS = 50
# What a bad parameter may raise: `check` says what is wrong with it.
WRONG = (ArithmeticError, InputError, LookupError, TypeError, ValueError)


def estimate(commands: Mapping[str, Sequence[str]]) -> dict[str, tuple[float, Callable[[float], float | None]]]:
    """Return the work of each of our stages but the UNKNOWN, by the lines of their commands, and `finished` of it.

    pyproject.toml declares it to dvc-parallel, which calls it before it begins.
    """
    params: dict[str, Any] = {}
    with suppress(InputError):  # the stage `check` says what is wrong
        params = read_yaml(PATH)
    notes = {stage: noted(lines) for stage, lines in commands.items()}
    known = {stage: note for stage, note in notes.items() if note and not note.startswith(UNKNOWN)}
    return {stage: (work(note, params), partial(finished, note, params)) for stage, note in known.items()}


def noted(lines: Sequence[str]) -> str:
    """Return the name under which a command of ours notes its time (`stage_name`), "" for any other."""
    try:
        words = shlex.split(lines[0]) if lines else []
    except ValueError:
        return ""
    if len(words) < 3 or words[1] != "-m" or not words[2].startswith("stages."):
        return ""
    return stage_name(words[2].removeprefix("stages."), words[3:])


def work(note: str, params: Mapping[str, Any]) -> float:
    """Return the work of the stage that notes its time under `note`, a few seconds if unknown."""
    with suppress(*WRONG):
        kind, *of = note.split("-")
        if kind == "train":
            lengths = params["ranges"][of[1]]
            steps = training_steps(params, of[0], of[1])
            return STARTUP + _training(of[0], lengths, 1.0) * float(params["seeds_per_block"] * steps)
        if kind in ITEM:
            section = params["test" if kind == "evaluate" else kind]
            items = section["sequences"] * sum(section.get("lengths", params["test"]["lengths"]))
            models = params["seeds_per_block"] if of else 1
            return STARTUP + ITEM[kind][of[0] if of else ""] * float(models * items)
        return float(FIXED.get(kind, STARTUP))
    return STARTUP


def finished(note: str, params: Mapping[str, Any], steps: float) -> float | None:
    """Return the fraction of a training's work that a fraction of its steps is; None for any other stage.

    Where lengths grow, the first half of the steps is less than half of the work.
    """
    with suppress(*WRONG):
        kind, *of = note.split("-")
        if kind == "train":
            lengths = params["ranges"][of[1]]
            return _training(of[0], lengths, steps) / _training(of[0], lengths, 1.0)
    return None


def _training(task: str, lengths: Mapping[str, Any], steps: float) -> float:
    """Return the mean seconds of a seed-step over the first fraction `steps` of them, times that fraction."""
    fixed, item = STEP[task]
    middles = [steps * (part + 0.5) / PARTS for part in range(PARTS)]
    means = [(lengths["shortest"] + _longest(lengths, middle)) / 2 for middle in middles]
    return float(steps * (fixed + item * sum(means) / PARTS))


def _longest(lengths: Mapping[str, Any], steps: float) -> float:
    """Return the longest sequence that may be drawn after a fraction of the steps."""
    longest, growth = float(lengths["longest"]), lengths.get("growth")
    if growth is None:
        return longest
    start, grown = float(growth["start"]), min(1.0, steps / float(growth["until"]))
    if growth["shape"] == "linear":
        return start + grown * (longest - start)
    return float(start * (longest / start) ** grown)
