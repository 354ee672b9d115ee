"""All that a training depends on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vanishing_variance.engine.config import Training
from vanishing_variance.engine.ranges import Range, training_steps
from vanishing_variance.engine.run import Run
from vanishing_variance.engine.seeds import Index
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.engine.variant import NAMED, Given, Variant
from vanishing_variance.harness.sections import get_param


@dataclass(frozen=True)
class TrainingPlan:
    """All that a training depends on, apart from the seeds. Names and parameters only, so it can be sent elsewhere."""

    name: str
    root_seed: int
    range_name: str
    lengths: Range
    variant: Variant
    training: Training
    task_training: TaskTraining
    steps: int

    @property
    def is_given(self) -> bool:
        """True where something of it is given in place of a name: what that keeps, a copy must not share."""
        return self.variant.given != NAMED

    @classmethod
    def of(cls, params: Mapping[str, Any], run: Run, *, given: Given = NAMED) -> "TrainingPlan":
        """Return the plan of a run by params.yaml, with the task's number of steps on the range. Raises InputError."""
        lengths: Range = get_param(params, f"ranges.{run.range}", Range)
        variant = Variant.of(params, run.task, run.norm, run.attention, given)
        training_class = variant.task.training_class()
        return cls(
            name=str(run),
            root_seed=get_param(params, "seed", Index),
            range_name=run.range,
            lengths=lengths,
            variant=variant,
            training=get_param(params, "training", Training),
            task_training=get_param(params, f"tasks.{run.task}.training", training_class),
            steps=training_steps(params, run.task, run.range),
        )
