"""What drawing a task's sequences takes, tried with a few: whatever the task, its sorting and shuffling is in it."""

import tracemalloc

import numpy as np

from vanishing_variance.tasks.base import Task

_SEQUENCES, _ITEMS = 64, 64


def drawn(task: Task, length: float) -> tuple[float, float]:
    """Bytes a sequence of `length` items takes with its label: once it is drawn, and at most while it is."""
    items = int(min(length, _ITEMS))
    tracemalloc.start()
    sample = task.sample(np.random.default_rng(0), _SEQUENCES, items)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = sum(array.nbytes for array in (*sample.values(), task.label(sample)))
    scale = length / items / _SEQUENCES
    return kept * scale, most * scale
