"""All that a training depends on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vanishing_variance.engine.config import Training
from vanishing_variance.engine.ranges import Range, training_steps
from vanishing_variance.engine.run import Run
from vanishing_variance.engine.seeds import Index
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.engine.variant import Variant, task_training
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

    @classmethod
    def of(cls, params: Mapping[str, Any], run: Run) -> "TrainingPlan":
        """Return the plan of a run by params.yaml, with the task's number of steps on the range. Raises InputError."""
        lengths: Range = get_param(params, f"ranges.{run.range}", Range)
        return cls(
            name=str(run),
            root_seed=get_param(params, "seed", Index),
            range_name=run.range,
            lengths=lengths,
            variant=Variant.of(params, run.task, run.norm, run.attention),
            training=get_param(params, "training", Training),
            task_training=task_training(params, run.task),
            steps=training_steps(params, run.task, run.range),
        )
