"""argmax retrieval (Section 3, B.1; Veličković et al. 2024): the class of the item with the largest priority.

priority  0.12  0.93  0.40         query  0.55 (a random number: it tells nothing)
class        4     7     1    ->   label  7
"""

from typing import Annotated

import numpy as np
from jaxtyping import Int64
from pydantic import Field

from vanishing_variance.tasks.base import Sequences, Task, TaskTraining


class Argmax(Task):
    """Items are a priority, U(0, 1), beside a class, uniform over `classes`; the query is U(0, 1)."""

    classes: Annotated[int, Field(ge=2, le=256)]

    @property
    def labels(self) -> int:
        """The number of output classes."""
        return self.classes

    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """`priority` (B, N) float32, `class` (B, N) uint8, `query` (B,) float32, `target` (B,) int64.

        On a tie the first of the largest priorities is the target.
        """
        priority = rng.random((sequences, length), dtype=np.float32)
        return {
            "priority": priority,
            "class": rng.integers(self.classes, size=(sequences, length), dtype=np.uint8),
            "query": rng.random(sequences, dtype=np.float32),
            "target": priority.argmax(axis=1),
        }

    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """The target item's class."""
        return np.take_along_axis(batch["class"], batch["target"][:, None], axis=1)[:, 0].astype(np.int64)


TASK = Argmax
TRAINING = TaskTraining
