"""Drawing sequences in batches.

B sequences, N items.
"""

from collections.abc import Iterator

import numpy as np

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.task import Sequences, Task

# `sample_batches` draws so many items at a time, or one sequence.
ITEMS_DRAWN = 2**20


def sample_batches(task: Task, rng: np.random.Generator, sequences: int, length: int, size: int) -> Iterator[Sequences]:
    """Yield sequences of one stream, at most `size` at a time.

    They are drawn a fixed number at a time, so that a larger `sequences` begins as a smaller one.
    """
    piece = max(1, ITEMS_DRAWN // length)
    for drawn_before in range(0, sequences, piece):
        drawn = task.sample(rng, piece, length)
        wanted = min(piece, sequences - drawn_before)
        for first in range(0, wanted, size):
            yield {name: array[first : min(first + size, wanted)] for name, array in drawn.items()}


def of_length(task: Task, rng: np.random.Generator, sequences: int, length: int, size: int) -> Iterator[Sequences]:
    """Yield new sequences of one length, at most `size` at a time; the same ones whatever `size` is."""
    drawn = task.sample(rng, sequences, length)
    for start in range(0, sequences, size):
        yield {name: array[start : start + size] for name, array in drawn.items()}


def of_training_lengths(
    task: Task, rng: np.random.Generator, sequences: int, lengths: Range, items: int
) -> Iterator[Sequences]:
    """Yield new sequences of lengths that are uniform over the training lengths, at most `items` items at a time."""
    drawn = rng.integers(lengths.shortest, lengths.longest + 1, size=sequences)
    for length, count in zip(*(of.tolist() for of in np.unique(drawn, return_counts=True)), strict=True):
        yield from of_length(task, rng, count, length, max(1, items // length))
