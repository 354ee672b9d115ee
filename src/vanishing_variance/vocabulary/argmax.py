"""argmax retrieval: its items are i.i.d. as they are; the query, which tells nothing, is fixed at its mean."""

from collections.abc import Iterator

import numpy as np

from vanishing_variance.tasks.argmax import Argmax
from vanishing_variance.tasks.base import Sequences

QUERY = 0.5

# Priorities are continuous, so expectations over them are sums at as many midpoints: an error of 1e-8 times a second
# derivative in the priority.
PRIORITIES = 2**14


def draw(task: Argmax, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
    """`priority` (B, N) float32 in [0, 1), `class` (B, N) uint8, `query` (B,) float32, the same for all."""
    return {
        "priority": rng.random((sequences, length), dtype=np.float32),
        "class": rng.integers(task.classes, size=(sequences, length), dtype=np.uint8),
        "query": np.full(sequences, QUERY, dtype=np.float32),
    }


def enumerated(task: Argmax) -> Iterator[Sequences]:
    """Each class beside the midpoints of `PRIORITIES` equal parts of (0, 1), a class at a time."""
    midpoints = ((np.arange(PRIORITIES) + 0.5) / PRIORITIES).astype(np.float32)
    for one in range(task.classes):
        yield {
            "priority": midpoints[None],
            "class": np.full((1, PRIORITIES), one, dtype=np.uint8),
            "query": np.full(1, QUERY, dtype=np.float32),
        }
