"""dictionary lookup (Section 3, B.1): the value that stands beside the queried key.

key    9021  17  400         query  17
value    63   5   12    ->   label  5
"""

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from jaxtyping import Int16, Int64
from pydantic import Field

from vanishing_variance.engine.task import Embedded, Sequences, Task

# Of i.i.d. items, the key that is queried always: in few sequences that are short beside the number of keys, and many
# times in those that are long.
IID_QUERY = 0
# Items in a part of the enumeration at most, for 256 values at most: their hidden layers are in memory at once.
ITEMS_IN_PART = 2**16


class Dictionary(Task):
    """Key classes are drawn without replacement within a sequence, value classes uniformly with replacement.

    The query is the key class of a uniformly drawn item. The paper has 16384 key classes and 64 value classes.
    """

    key_classes: Annotated[int, Field(ge=2, le=2**15)] = 16384
    value_classes: Annotated[int, Field(ge=2, le=256)] = 64

    items = {"key": Embedded("key_classes", table="key"), "value": Embedded("value_classes", table="value")}
    query = {"query": Embedded("key_classes", table="key")}
    label_classes = "value_classes"
    independent = True

    @property
    def longest(self) -> int:
        """The longest sequence: as many items as there are keys."""
        return self.key_classes

    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `key` (B, N) int16, `value` (B, N) uint8, `query` (B,) int16 (a key class), `target` (B,) int64."""
        key = distinct(rng, self.key_classes, sequences, length)
        target = rng.integers(length, size=sequences)
        return {
            "key": key,
            "value": rng.integers(self.value_classes, size=(sequences, length), dtype=np.uint8),
            "query": np.take_along_axis(key, target[:, None], axis=1)[:, 0],
            "target": target,
        }

    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """Return the target item's value class."""
        return np.take_along_axis(batch["value"], batch["target"][:, None], axis=1)[:, 0].astype(np.int64)

    def sample_iid(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `key` (B, N) int16, drawn with replacement, `value` (B, N) uint8, `query` (B,) int16, one for all."""
        return {
            "key": rng.integers(self.key_classes, size=(sequences, length), dtype=np.int16),
            "value": rng.integers(self.value_classes, size=(sequences, length), dtype=np.uint8),
            "query": np.full(sequences, IID_QUERY, dtype=np.int16),
        }

    def enumerate_iid(self) -> Iterator[Sequences]:
        """Yield every key beside every value, some keys at a time."""
        size = ITEMS_IN_PART // self.value_classes
        for first in range(0, self.key_classes, size):
            keys = np.arange(first, min(first + size, self.key_classes), dtype=np.int16)
            yield {
                "key": keys.repeat(self.value_classes)[None],
                "value": np.tile(np.arange(self.value_classes, dtype=np.uint8), len(keys))[None],
                "query": np.full(1, IID_QUERY, dtype=np.int16),
            }


def distinct(rng: np.random.Generator, population: int, rows: int, length: int) -> Int16[np.ndarray, "{rows} {length}"]:
    """Return `rows` uniform ordered samples without replacement of `length` numbers below `population`.

    Short rows: draw with replacement and redraw repeats until none is left. Which entries are redrawn depends only on
    which are equal, so relabelling the numbers relabels the result: every ordered sample is equally likely. Long rows,
    where almost everything would repeat: a partial Fisher-Yates shuffle a row (numpy's `choice`).
    """
    if length > population // 4:
        return np.stack([rng.choice(population, length, replace=False) for _ in range(rows)]).astype(np.int16)
    drawn = rng.integers(population, size=(rows, length), dtype=np.int16)
    pending = np.arange(rows)
    while pending.size:
        ordered = np.sort(drawn[pending], axis=1)  # several times faster than argsort, which few rows need
        pending = pending[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
        redrawn = drawn[pending]
        order = redrawn.argsort(axis=1, kind="stable")
        ordered = np.take_along_axis(redrawn, order, axis=1)
        row, rank = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
        redrawn[row, order[row, rank + 1]] = rng.integers(population, size=row.size, dtype=np.int16)
        drawn[pending] = redrawn
    return drawn
