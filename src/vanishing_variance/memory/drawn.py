"""What drawing a task's sequences takes, tried with a few: whatever the task, its sorting and shuffling is in it."""

import tracemalloc

import numpy as np

from vanishing_variance.tasks.base import Task

_ITEMS = 2**16


def drawn(task: Task, length: float) -> tuple[float, float]:
    """Bytes a sequence of `length` items takes with its label: once it is drawn, and at most while it is."""
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
