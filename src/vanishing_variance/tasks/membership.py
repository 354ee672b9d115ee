"""Whether the queried key is among the items: where it is not, that O shrinks is the answer.

key  9021  17  400         query  17   ->   label  1
key  9021  17  400         query  63   ->   label  0
"""

from typing import Annotated

import numpy as np
from jaxtyping import Int64
from pydantic import Field

from vanishing_variance.engine.draws import distinct
from vanishing_variance.engine.task import Embedded, Sequences, Task


class Membership(Task):
    """Key classes are drawn without replacement within a sequence; half of the sequences have the queried key.

    A queried key that is among the items is that of a uniformly drawn one; another is uniform over all others.
    """

    key_classes: Annotated[int, Field(ge=3, le=2**15)] = 2**15

    items = {"key": Embedded("key_classes", table="key")}
    query = {"query": Embedded("key_classes", table="key")}
    label_classes = 2

    @property
    def longest(self) -> int:
        """The longest sequence: one item fewer than there are keys."""
        return self.key_classes - 1

    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `key` (B, N) int16 and `query` (B,) int16, key classes."""
        keys = distinct(rng, self.key_classes, sequences, length + 1)
        place = rng.integers(length, size=sequences)
        place[rng.random(sequences) < 0.5] = length  # of the key beside the items
        return {"key": keys[:, :-1], "query": np.take_along_axis(keys, place[:, None], axis=1)[:, 0]}

    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """Return 1 where an item has the queried key, 0 elsewhere."""
        found: np.ndarray = (batch["key"] == batch["query"][:, None]).any(axis=1)
        return found.astype(np.int64)
