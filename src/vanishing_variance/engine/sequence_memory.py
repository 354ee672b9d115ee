"""Memory for drawing a task's sequences, measured on a few: its sorting and shuffling, whatever they are, count."""

import tracemalloc

import numpy as np

from vanishing_variance.engine.task import Task

_ITEMS = 2**16


def sequence_bytes(task: Task, length: float) -> tuple[float, float]:
    """Return the bytes of a sequence of `length` items and its label: once it is drawn, and at most meanwhile."""
    items, rng = int(min(length, _ITEMS, task.longest or _ITEMS)), np.random.default_rng(0)
    sequences = _ITEMS // items
    task.sample(rng, 1, items)  # what is imported by then is not counted
    tracemalloc.start()
    sample = task.sample(rng, sequences, items)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = sum(array.nbytes for array in (*sample.values(), task.label(sample)))
    scale = length / items / sequences
    return kept * scale, most * scale
