"""Dictionary lookup in which half of the queried keys are absent.

key    90  17  40         query  17
value   6   5   1    ->   label   5
                          query  63   ->   label  10, absent
"""

from typing import Annotated

import numpy as np
from jaxtyping import Int64
from pydantic import Field

from vanishing_variance.engine.task import Embedded, Sequences, Task


class Membership(Task):
    """The dictionary, but in half of the sequences the queried key is not there, and the answer a class of its own.

    The query is uniform over the key classes, the items' keys over all others, with replacement, and value classes
    uniform; in half of the sequences one item, uniformly drawn, has the queried key. With one value class it is the
    plain question, which the paper's network did not learn in 40,000 steps.
    """

    key_classes: Annotated[int, Field(ge=2, le=2**15)] = 256
    value_classes: Annotated[int, Field(ge=1, le=256)] = 10

    items = {"key": Embedded("key_classes", table="key"), "value": Embedded("value_classes", table="value")}
    query = {"query": Embedded("key_classes", table="key")}
    label_classes = "answers"
    independent = True

    @property
    def answers(self) -> int:
        """The number of labels: the value classes, and absent."""
        return self.value_classes + 1

    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `key` (B, N) int16, `value` (B, N) uint8 and `query` (B,) int16, a key class."""
        query = rng.integers(self.key_classes, size=sequences)
        others = rng.integers(1, self.key_classes, size=(sequences, length))
        key = (query[:, None] + others) % self.key_classes
        there = np.flatnonzero(rng.random(sequences) < 0.5)
        key[there, rng.integers(length, size=len(there))] = query[there]
        value = rng.integers(self.value_classes, size=(sequences, length), dtype=np.uint8)
        return {"key": key.astype(np.int16), "value": value, "query": query.astype(np.int16)}

    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """Return the value class beside the queried key, and where no item has it the class after these."""
        found = batch["key"] == batch["query"][:, None]
        beside: np.ndarray = np.where(found, batch["value"].astype(np.int64), self.value_classes).min(axis=1)
        return beside
