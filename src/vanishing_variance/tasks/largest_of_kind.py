"""The class of the item with the largest priority among those of the queried kind.

priority  0.12  0.93  0.40  0.71
kind         2     0     2     1         query  2
class        4     7     1     3    ->   label  1
"""

from typing import Annotated

import numpy as np
from jaxtyping import Int64
from pydantic import Field

from vanishing_variance.engine.task import Number, OneHot, Sequences, Task


class LargestOfKind(Task):
    """Items are a priority, U(0, 1), a kind and a class, both uniform; the query is the kind of one of them."""

    kinds: Annotated[int, Field(ge=2, le=64)] = 4
    classes: Annotated[int, Field(ge=2, le=256)] = 10

    items = {"priority": Number(), "kind": OneHot("kinds"), "class": OneHot("classes")}
    query = {"query": OneHot("kinds")}
    label_classes = "classes"
    independent = True

    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `priority` (B, N) float32, `kind`, `class` (B, N) uint8, `query` (B,) uint8, `target` (B,) int64.

        Of equal priorities, of which float32 has 2^24, the first is the target.
        """
        priority = rng.random((sequences, length), dtype=np.float32)
        kind = rng.integers(self.kinds, size=(sequences, length), dtype=np.uint8)
        classes = rng.integers(self.classes, size=(sequences, length), dtype=np.uint8)
        place = rng.integers(length, size=sequences)
        query = np.take_along_axis(kind, place[:, None], axis=1)
        target = np.where(kind == query, priority, -1).argmax(axis=1)
        return {"priority": priority, "kind": kind, "class": classes, "query": query[:, 0], "target": target}

    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """Return the target item's class."""
        return np.take_along_axis(batch["class"], batch["target"][:, None], axis=1)[:, 0].astype(np.int64)
