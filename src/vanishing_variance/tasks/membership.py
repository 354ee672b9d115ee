"""Whether the queried key is among the items, and beside which value: where it is not, that O shrinks is the answer.

key    9021  17  400         query  17
value    63   5   12    ->   label   5
                             query  63   ->   label  64: absent
"""

from typing import Annotated

import numpy as np
from jaxtyping import Int64
from pydantic import Field

from vanishing_variance.engine.draws import distinct
from vanishing_variance.engine.task import Embedded, Sequences, Task


class Membership(Task):
    """The dictionary, but in half of the sequences the queried key is not there, and a class of its own is the answer.

    Key classes are drawn without replacement within a sequence, value classes uniformly with replacement. A queried
    key that is among the items is that of a uniformly drawn one; another is uniform over all others. With one value
    class it is the plain question, which the paper's network did not learn in 40,000 steps.
    """

    key_classes: Annotated[int, Field(ge=3, le=2**15)] = 2**15
    value_classes: Annotated[int, Field(ge=1, le=256)] = 64

    items = {"key": Embedded("key_classes", table="key"), "value": Embedded("value_classes", table="value")}
    query = {"query": Embedded("key_classes", table="key")}
    label_classes = "answers"

    @property
    def answers(self) -> int:
        """The number of labels: the value classes, and absent."""
        return self.value_classes + 1

    @property
    def longest(self) -> int:
        """The longest sequence: one item fewer than there are keys."""
        return self.key_classes - 1

    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `key` (B, N) int16, `value` (B, N) uint8 and `query` (B,) int16, a key class."""
        keys = distinct(rng, self.key_classes, sequences, length + 1)
        place = rng.integers(length, size=sequences)
        place[rng.random(sequences) < 0.5] = length  # of the key beside the items
        query = np.take_along_axis(keys, place[:, None], axis=1)[:, 0]
        value = rng.integers(self.value_classes, size=(sequences, length), dtype=np.uint8)
        return {"key": keys[:, :-1], "value": value, "query": query}

    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """Return the value class beside the queried key, and where no item has it the class after these."""
        found = batch["key"] == batch["query"][:, None]
        beside: np.ndarray = np.where(found, batch["value"].astype(np.int64), self.value_classes).min(axis=1)
        return beside
