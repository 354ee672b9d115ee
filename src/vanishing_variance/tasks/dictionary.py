"""dictionary lookup (Section 3, B.1): the value that stands beside the queried key.

key    9021  17  400         query  17
value    63   5   12    ->   label  5
"""

from typing import Annotated

import numpy as np
from jaxtyping import Int16, Int64
from pydantic import Field

from vanishing_variance.params.base import Count, Positive
from vanishing_variance.tasks.base import Sequences, Task, TaskTraining


class Dictionary(Task):
    """Key classes are drawn without replacement within a sequence, value classes uniformly with replacement.

    The query is the key class of a uniformly drawn item. The paper has 16384 key classes and 64 value classes.
    """

    key_classes: Annotated[int, Field(ge=2, le=2**15)]
    value_classes: Annotated[int, Field(ge=2, le=256)]

    @property
    def labels(self) -> int:
        """The number of output classes."""
        return self.value_classes

    @property
    def longest(self) -> int:
        """As many items as there are keys."""
        return self.key_classes

    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """`key` (B, N) int16, `value` (B, N) uint8, `query` (B,) int16 (a key class), `target` (B,) int64."""
        key = distinct(rng, self.key_classes, sequences, length)
        target = rng.integers(length, size=sequences)
        return {
            "key": key,
            "value": rng.integers(self.value_classes, size=(sequences, length), dtype=np.uint8),
            "query": np.take_along_axis(key, target[:, None], axis=1)[:, 0],
            "target": target,
        }

    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """The target item's value class."""
        return np.take_along_axis(batch["value"], batch["target"][:, None], axis=1)[:, 0].astype(np.int64)


class DictionaryTraining(TaskTraining):
    """The embedding tables are trained with the network (B.1); their initial scale decides Table 2."""

    embedding_width: Count
    embedding_std: Positive


def distinct(rng: np.random.Generator, population: int, rows: int, length: int) -> Int16[np.ndarray, "{rows} {length}"]:
    """`rows` uniform ordered samples without replacement of `length` numbers below `population`.

    Short rows: draw with replacement and redraw repeats until none is left. Which entries are redrawn depends only on
    which are equal, so relabelling the numbers relabels the result: every ordered sample is equally likely. Long rows,
    where almost everything would repeat: a partial Fisher-Yates shuffle a row (numpy's `choice`).
    """
    if length > population // 4:
        return np.stack([rng.choice(population, length, replace=False) for _ in range(rows)]).astype(np.int16)
    drawn = rng.integers(population, size=(rows, length), dtype=np.int16)
    pending = np.arange(rows)
    while pending.size:
        some = drawn[pending]
        order = some.argsort(axis=1, kind="stable")
        ordered = np.take_along_axis(some, order, axis=1)
        row, rank = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
        pending = pending[np.unique(row)]
        column = order[row, rank + 1]
        some[row, column] = rng.integers(population, size=row.size, dtype=np.int16)
        drawn[pending] = some[np.unique(row)]
    return drawn


TASK = Dictionary
TRAINING = DictionaryTraining
