"""All that a training depends on, and what it leaves.

S seeds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from vanishing_variance.engine.config import Training
from vanishing_variance.engine.ranges import Range, training_steps
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.engine.seeds import Index
from vanishing_variance.engine.task import TaskTraining, why_plain
from vanishing_variance.engine.variant import NAMED, Given, Variant
from vanishing_variance.harness.sections import get_param


@dataclass(frozen=True)
class TrainingPlan:
    """All that a training depends on, apart from the seeds. Names and parameters only, so it can be sent elsewhere."""

    is_plain: ClassVar[bool] = False  # whether the plain engine trains it
    network = PAPER  # which the fast engine trains

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

    @property
    def network_name(self) -> str:
        """The name of the network's file, or of its class."""
        return self.network if isinstance(self.network, str) else str(self.network.__name__)

    @property
    def why_plain(self) -> str:
        """Why the plain engine trains it; nothing where the fast one does."""
        return why_plain(self.network, self.variant.task, norm_of_modules=self.variant.has_norm_of_modules)

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


@dataclass(frozen=True)
class TrainedBlock:
    """A block of trained seeds.

    `weights`: the last ones by name of the tensor, (S, ...) each, float32. `losses`: seed, step, loss (nats, the mean
    over the `loop.STEPS_PER_RECORD` steps that end with `step`). `kept`: the weights that are kept beside the last
    ones, of the same names and shapes: `averaged` (training.averaged_part), and such as `step_00001000`
    (training.kept_steps).
    """

    weights: dict[str, np.ndarray]
    losses: pd.DataFrame
    kept: dict[str, dict[str, np.ndarray]]
