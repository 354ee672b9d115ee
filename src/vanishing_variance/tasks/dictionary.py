"""dictionary lookup (Section 3, B.1): the value that stands beside the queried key.

key    9021  17  400         query  17
value    63   5   12    ->   label  5
"""

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from jaxtyping import Int64
from pydantic import Field

from vanishing_variance.engine.draws import distinct
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
