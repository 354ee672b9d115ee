"""The lines of the leaderboard: a treatment each, and how its models are trained."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ValidationError

from vanishing_variance.engine import registry
from vanishing_variance.engine.config import Model, Training
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness import sections as config
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.sections import Count, Section, explained, get_param, named
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.leaderboard.files import TASKS

PATH = Path("leaderboard") / "params.yaml"
RANGE = "short"


def _one_of(choices: list[str]) -> AfterValidator:
    def known(name: str) -> str:
        if name not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return name

    return AfterValidator(known)


class Treatment(Section):
    """A line: its attention map, its normaliser, `model.projection`, `training.decay`, and `steps` times the steps."""

    attention: Annotated[str, _one_of(registry.attention_names())]
    norm: Annotated[str, _one_of(registry.norm_names())]
    projection: Literal["mlp", "direct", "qk_norm", "tied_qk_norm"]
    decay: Literal["none", "cosine"]
    steps: Count = 1


class Steps(Section):
    """The section `tasks.<task>.steps` of the leaderboard's file: gradient steps, which a line may multiply."""

    short: Count


def read_params(path: Path = PATH) -> dict[str, Any]:
    """Return params.yaml with the network and the training that the leaderboard's file has for all lines instead.

    These are `model`, `training`, and of each task `steps` and `training`; `projection` and `decay` are left to the
    lines. Raises InputError, one line that names the key, its value and what is allowed.
    """
    params, own = read_yaml(config.PATH), read_yaml(path)
    tasks = {
        task: {
            "data": get_param(params, f"tasks.{task}.data", Any),
            "steps": _section(path, own, f"tasks.{task}.steps", Steps),
            "training": _section(path, own, f"tasks.{task}.training", registry.load_task(task).TRAINING),
        }
        for task in TASKS
    }
    model = _section(path, own, "model", Model, projection="mlp")
    return params | {
        "tasks": tasks,
        "model": model,
        "training": _section(path, own, "training", Training, decay="none"),
    }


def read_treatments(path: Path = PATH) -> dict[str, Treatment]:
    """Return the lines by name, in the file's order: the first is the baseline.

    Raises InputError, one line that names the key, its value and the choices, when there is none, or one is not a
    treatment.
    """
    lines = read_yaml(path).get("treatments")
    if not isinstance(lines, dict) or not lines:
        raise InputError(f"{path}: treatments is {shown(lines)}; must be a mapping with at least 1 line")
    for line in lines:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", str(line)):
            raise InputError(f"{path}: treatments has the line {shown(line)}; a name has a-z, 0-9, - and _")
    return {str(line): _treatment(path, f"treatments.{named(line)}", settings) for line, settings in lines.items()}


def read_ablation(path: Path = PATH) -> str | None:
    """Return the line whose pieces the leaderboard compares, `ablation` of the file; None where there is none.

    Raises InputError for one that is no line.
    """
    line = read_yaml(path).get("ablation")
    lines = read_treatments(path)
    if line is not None and (not isinstance(line, str) or line not in lines):
        raise InputError(f"{path}: ablation is {shown(line)}; must be one of {', '.join(lines)}")
    return line


def read_treatment(line: str, path: Path = PATH) -> Treatment:
    """Return one line. Raises InputError, as `read_treatments` does, and for one that is not there."""
    lines = read_treatments(path)
    if line not in lines:
        raise InputError(f"{path}: treatments.{named(line)} is missing; there are {', '.join(lines)}")
    return lines[line]


def training_plan(params: Mapping[str, Any], task: str, line: str, treatment: Treatment) -> TrainingPlan:
    """Return how a line's models of a task are trained: as `params` say, but for the treatment. Raises InputError.

    Trained on up to 16 items, with the seeds and sequences of the study.
    """
    model: Model = get_param(params, "model", Model)
    training: Training = get_param(params, "training", Training)
    changed = {
        **params,
        "model": {**model.model_dump(), "projection": treatment.projection},
        "training": {**training.model_dump(), "decay": treatment.decay},
    }
    run = Run(task, RANGE, treatment.norm, 0)
    plan = TrainingPlan.of(changed, run, treatment.attention, name=f"{line} {task}")
    return replace(plan, steps=plan.steps * treatment.steps)


def _section(path: Path, document: Mapping[str, Any], key: str, kind: type[Section], **of_lines: str) -> dict[str, Any]:
    """Return a section of the leaderboard's file with `of_lines`, which it must not have: each line has its own."""
    value: Any = document
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, dict):
        for name in value.keys() & of_lines.keys():
            raise InputError(f"{path}: {key}.{name} is {shown(value[name])}, but each line has its own {name}")
        value = value | of_lines
    try:
        kind.model_validate(value)
    except ValidationError as problem:
        raise InputError(f"{path}: {explained(problem, key, kind)}") from None
    return dict(value)


def _treatment(path: Path, key: str, settings: Any) -> Treatment:
    try:
        return Treatment.model_validate(settings)
    except ValidationError as problem:
        raise InputError(f"{path}: {explained(problem, key, Treatment)}") from None
