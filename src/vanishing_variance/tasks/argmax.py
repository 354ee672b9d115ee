"""argmax retrieval (Section 3, B.1; Veličković et al. 2024): the class of the item with the largest priority.

priority  0.12  0.93  0.40         query  0.55 (a random number: it tells nothing)
class        4     7     1    ->   label  7
"""

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from jaxtyping import Float32, Int64
from pydantic import Field

from vanishing_variance.engine.task import Number, OneHot, Sequences, Task

# Of i.i.d. items, the query of them all: its mean, for it tells nothing.
IID_QUERY = 0.5
# Priorities are continuous, so expectations over them are sums at as many midpoints: an error of 2e-10 times a
# second derivative in the priority (midpoint rule: step squared over 24).
PRIORITIES = 2**14
# Of sequences of this length one in 2,000 has two largest priorities, for float32 has 2^24 between 0 and 1. They are
# left, and so the bits of what was trained and tested; longer ones are drawn again.
TIES_LEFT = 2**14


class Argmax(Task):
    """Items are a priority, U(0, 1), beside a class, uniform over `classes`; the query is U(0, 1)."""

    classes: Annotated[int, Field(ge=2, le=256)] = 10

    items = {"priority": Number(), "class": OneHot("classes")}
    query = {"query": Number()}
    label_classes = "classes"
    independent = True

    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `priority` (B, N) float32, `class` (B, N) uint8, `query` (B,) float32, `target` (B,) int64.

        Up to TIES_LEFT items, the first of the largest priorities is the target; beyond, there is one largest.
        """
        priority = rng.random((sequences, length), dtype=np.float32)
        classes = rng.integers(self.classes, size=(sequences, length), dtype=np.uint8)
        query = rng.random(sequences, dtype=np.float32)
        if length > TIES_LEFT:
            _redraw_ties(rng, priority)
        return {"priority": priority, "class": classes, "query": query, "target": priority.argmax(axis=1)}

    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """Return the target item's class."""
        return np.take_along_axis(batch["class"], batch["target"][:, None], axis=1)[:, 0].astype(np.int64)

    def sample_iid(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `priority` (B, N) float32 in [0, 1), `class` (B, N) uint8, `query` (B,) float32, the same for all."""
        return {
            "priority": rng.random((sequences, length), dtype=np.float32),
            "class": rng.integers(self.classes, size=(sequences, length), dtype=np.uint8),
            "query": np.full(sequences, IID_QUERY, dtype=np.float32),
        }

    def enumerate_iid(self) -> Iterator[Sequences]:
        """Yield each class beside the midpoints of `PRIORITIES` equal parts of (0, 1), a class at a time."""
        midpoints = ((np.arange(PRIORITIES) + 0.5) / PRIORITIES).astype(np.float32)
        for one in range(self.classes):
            yield {
                "priority": midpoints[None],
                "class": np.full((1, PRIORITIES), one, dtype=np.uint8),
                "query": np.full(1, IID_QUERY, dtype=np.float32),
            }


def _redraw_ties(rng: np.random.Generator, priority: Float32[np.ndarray, "B N"]) -> None:
    """Draw the sequences again, in place, whose largest priority is not unique, until it is in all."""
    while True:
        is_largest = priority == priority.max(axis=1, keepdims=True)
        tied = is_largest.sum(axis=1) > 1
        if not tied.any():
            return
        priority[tied] = rng.random(priority[tied].shape, dtype=np.float32)
