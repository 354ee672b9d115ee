"""Random sequences in batches of bounded size.

B sequences, N items.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from vanishing_variance.engine.drawing import draw
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.task import Sequences, Task

# A function of the size of a batch, which yields the test sequences of one length in batches of at most that size.
Read = Callable[[int], Iterator[Sequences]]

# `sample_batches` draws so many items at a time, or one sequence. Another number gives other sequences.
ITEMS_DRAWN = 2**20


def sample_batches(task: Task, rng: np.random.Generator, sequences: int, length: int, size: int) -> Iterator[Sequences]:
    """Yield labelled sequences of one stream, at most `size` at a time; a larger number begins as a smaller one."""
    drawn_together = max(1, ITEMS_DRAWN // length)
    for drawn_before in range(0, sequences, drawn_together):
        drawn = draw(task, rng, drawn_together, length)
        wanted = min(drawn_together, sequences - drawn_before)
        yield from _batches(drawn, wanted, size)


def of_length(task: Task, rng: np.random.Generator, sequences: int, length: int, size: int) -> Iterator[Sequences]:
    """Yield new labelled sequences of one length, at most `size` at a time; the same ones whatever `size` is."""
    yield from _batches(draw(task, rng, sequences, length), sequences, size)


def of_training_lengths(
    task: Task, rng: np.random.Generator, sequences: int, lengths: Range, batch_size: Callable[[int], int]
) -> Iterator[Sequences]:
    """Yield new sequences of lengths that are uniform over the training lengths; a batch has one length."""
    drawn = rng.integers(lengths.shortest, lengths.longest, endpoint=True, size=sequences)
    for length, count in sorted(Counter(drawn.tolist()).items()):
        yield from of_length(task, rng, count, length, batch_size(length))


def first(read: Read, sequences: int, size: int) -> Iterator[Sequences]:
    """Yield the first of the stored sequences, at most `size` at a time."""
    for batch in read(min(size, sequences)):
        yield {name: array[:sequences] for name, array in batch.items()}
        sequences -= len(next(iter(batch.values())))
        if sequences <= 0:
            return


def _batches(drawn: Sequences, wanted: int, size: int) -> Iterator[Sequences]:
    """Yield the first `wanted` sequences, at most `size` at a time."""
    for first in range(0, wanted, size):
        part = slice(first, min(first + size, wanted))
        yield {name: array[part] for name, array in drawn.items()}
