"""Treatments: the lines of leaderboard/params.yaml, and the trainings that they stand for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from vanishing_variance.core import registry
from vanishing_variance.core.config import Section, get_param
from vanishing_variance.core.errors import InputError, shown
from vanishing_variance.core.paths import RUNS, Run
from vanishing_variance.model.config import Model
from vanishing_variance.training.config import Training
from vanishing_variance.training.plan import TrainingPlan

PATH = Path("leaderboard/params.yaml")
RANGE = "short"


def _known(choices: list[str]) -> BeforeValidator:
    def check(name: Any) -> Any:
        if name not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return name

    return BeforeValidator(check)


class Treatment(Section):
    """What a line changes: the attention map, the normaliser, `model.projection` and `training.decay`."""

    attention: Annotated[str, _known(registry.attention_names())]
    norm: Annotated[str, _known(registry.norm_names())]
    projection: Literal["mlp", "direct", "qk_norm", "tied_qk_norm"]
    decay: Literal["none", "cosine"]


def treatment(document: Mapping[str, Any], line: str) -> Treatment:
    """Return a line of leaderboard/params.yaml. Raises InputError, which names the key, its value and the choices."""
    lines = document.get("treatments")
    if not isinstance(lines, Mapping) or line not in lines:
        there = ", ".join(map(str, lines)) if isinstance(lines, Mapping) else shown(lines)
        raise InputError(f"{PATH}: treatments.{line} is missing; there are: {there}")
    try:
        found: Treatment = get_param(document, f"treatments.{line}", Treatment)
    except InputError as problem:
        raise InputError(str(problem).replace("params.yaml", str(PATH), 1)) from None
    return found


def training_plan(params: Mapping[str, Any], task: str, line: str, how: Treatment) -> TrainingPlan:
    """Return how a line's models of a task are trained: as params.yaml says, but for the treatment. Raises InputError.

    Trained on up to 16 items, with the seeds, initial weights and sequences of the study.
    """
    model: Model = get_param(params, "model", Model)
    training: Training = get_param(params, "training", Training)
    changed = {
        **params,
        "model": model.model_copy(update={"projection": how.projection}).model_dump(),
        "training": training.model_copy(update={"decay": how.decay}).model_dump(),
    }
    return TrainingPlan.of(changed, Run(task, RANGE, how.norm, 0), how.attention, name=f"{line} {task}")


def folder(kind: str, line: str, task: str) -> Path:
    """Return the folder of a line and task of a kind: trained, checkpoints, tested."""
    return RUNS / "leaderboard" / kind / line / task
