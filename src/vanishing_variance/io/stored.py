"""Weights and test sequences as they are stored: all of them are checked before any work is done with them."""

from functools import partial
from pathlib import Path

import numpy as np

from vanishing_variance.evaluation.inference import Read
from vanishing_variance.io.arrays import read_arrays, read_parts, verify
from vanishing_variance.io.layout import compare, layout, refused
from vanishing_variance.model.variant import Variant
from vanishing_variance.tasks.base import Task, TaskTraining


def read_weights(path: Path, variant: Variant, training: TaskTraining, seeds: int) -> dict[str, np.ndarray]:
    """The weights of a block of `seeds` trained models, (S, ...) float32 by name.

    Raises InputError when the file is missing or damaged, holds other tensors than these models have, or numbers that
    are not finite.
    """
    arrays, single = read_arrays(path), np.dtype(np.float32)
    shapes = {name: (seeds, *initial.shape) for name, initial in variant.initial(training).items()}
    compare(path, layout(arrays), {name: (single, shape) for name, shape in shapes.items()})
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise refused(path, f"holds {name} with numbers that are not finite")
    return arrays


def open_sequences(path: Path, task: Task, length: int) -> Read:
    """The test sequences of one length, to be read in parts; any number of them.

    Raises InputError when the file is missing or damaged, or holds other arrays than the task draws.
    """
    found = verify(path)
    drawn = layout(task.sample(np.random.default_rng(0), 1, length))
    stored = next((shape[0] for _, shape in found.values() if shape), 1)
    compare(path, found, {name: (dtype, (stored, *shape[1:])) for name, (dtype, shape) in drawn.items()})
    return partial(read_parts, path)
