"""The lines of the leaderboard, leaderboard/params.yaml: a treatment each, and how its models are trained."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError, field_validator

from vanishing_variance.engine import registry
from vanishing_variance.engine.config import Model, Training
from vanishing_variance.harness import sections
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.runs import TASKS
from vanishing_variance.harness.sections import Count, Section, explained, get_param, named
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.leaderboard.files import LineRun

PATH = Path("leaderboard") / "params.yaml"


class Treatment(Section):
    """A line: its attention map, its normaliser, `model.projection`, `training.decay`, and `steps` times the steps."""

    attention: str
    norm: str
    projection: Literal["mlp", "direct"]
    decay: Literal["none", "cosine"]
    steps: Count = 1

    @field_validator("attention", "norm")
    @classmethod
    def _known(cls, name: str, info: Any) -> str:
        choices = registry.attention_names() if info.field_name == "attention" else registry.norm_names()
        if name not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return name


class SharedModel(Model):
    """The network of all lines, whose projection is each line's own; of several heads there is no ceiling."""

    heads: Literal[1] = 1
    projection: Literal["mlp"] = "mlp"


class SharedTraining(Training):
    """The training of all lines, whose decay is each line's own."""

    decay: Literal["none"] = "none"


class Steps(Section):
    """Gradient steps of a task, which a line may multiply."""

    short: Count


def read_params(path: Path = PATH) -> dict[str, Any]:
    """Return params.yaml with the sections `model`, `training` and, of each task, `steps` and `training` of `path`.

    Raises InputError, one line that names the key, its value and what is allowed.
    """
    params, own = read_yaml(sections.PATH), read_yaml(path)
    tasks = {}
    for task in TASKS:
        kind = registry.load_task(task).TRAINING
        tasks[task] = {
            "data": get_param(params, f"tasks.{task}.data", Any),
            "steps": _validated(path, own, f"tasks.{task}.steps", Steps).model_dump(),
            "training": _validated(path, own, f"tasks.{task}.training", kind).model_dump(),
        }
    model = _validated(path, own, "model", SharedModel).model_dump()
    training = _validated(path, own, "training", SharedTraining).model_dump()
    return params | {"tasks": tasks, "model": model, "training": training}


def read_treatments(path: Path = PATH) -> dict[str, Treatment]:
    """Return the lines by name, in the file's order: the first is the baseline.

    Raises InputError, one line that names the key, its value and the choices, for what is no line.
    """
    document = read_yaml(path)
    lines = document.get("treatments")
    if not isinstance(lines, dict) or not lines:
        raise InputError(f"{path}: treatments is {shown(lines)}; must be a mapping with at least 1 line")
    treatments = {}
    for line in lines:
        if not isinstance(line, str) or not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", line):
            raise InputError(f"{path}: treatments has the line {shown(line)}; a name has a-z, 0-9, - and _")
        treatments[line] = _validated(path, document, f"treatments.{line}", Treatment)
    return treatments


def read_treatment(line: str, path: Path = PATH) -> Treatment:
    """Return one line. Raises InputError as `read_treatments`, and where there is no such line."""
    treatments = read_treatments(path)
    if line not in treatments:
        raise InputError(f"{path}: treatments.{named(line)} is missing; there are {', '.join(treatments)}")
    return treatments[line]


def read_ablation(path: Path = PATH) -> str | None:
    """Return the line that `ablation` names, or None. Raises InputError where there is no such line."""
    line = read_yaml(path).get("ablation")
    choices = list(read_treatments(path))
    if line is None or line in choices:
        return line
    raise InputError(f"{path}: ablation is {shown(line)}; must be one of {', '.join(choices)}")


def line_run(line: str, treatment: Treatment, task: str) -> LineRun:
    """Return the run of a line's models of a task."""
    return LineRun(task, "short", treatment.norm, 0, treatment.attention, line)


def line_params(params: Mapping[str, Any], treatment: Treatment) -> dict[str, Any]:
    """Return the parameters of a line's models: `params`, those of `read_params`, with what the line changes."""
    tasks = {}
    for name, task in params["tasks"].items():
        steps = {"short": task["steps"]["short"] * treatment.steps}
        tasks[name] = task | {"steps": steps}
    return {
        **params,
        "model": params["model"] | {"projection": treatment.projection},
        "training": params["training"] | {"decay": treatment.decay},
        "tasks": tasks,
    }


def _validated(path: Path, document: Mapping[str, Any], key: str, kind: Any) -> Any:
    """Return the value at the dotted `key`, validated as `kind`."""
    value: Any = document
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    try:
        return kind.model_validate(value)
    except ValidationError as problem:
        raise InputError(f"{path}: {explained(problem, key, kind)}") from None
