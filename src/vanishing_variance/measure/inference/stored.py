"""Stored weights, temperatures and test sequences, checked before any work is done with them."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from vanishing_variance.engine.task import Task, TaskTraining
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.arrays import read_about, read_arrays, read_parts, verify
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import read_frame
from vanishing_variance.harness.layout import compare, layout, refused
from vanishing_variance.measure.inference.models import Read
from vanishing_variance.measure.inference.temperature import HALVES, POWERS, Temperature


def read_temperatures(path: Path) -> tuple[dict[str, Temperature], pd.DataFrame]:
    """Return the temperature with which each half of a block is tested, and the frame of them (`temperature.frame`).

    Raises InputError when the file is missing or damaged, or holds others than the two halves.
    """
    fits = read_frame(path, "half", "mistakes", "lowest", "highest", *POWERS)
    if list(fits["half"]) != HALVES or not np.isfinite(fits[["lowest", "highest", *POWERS]]).all(axis=None):
        raise refused(path, f"holds no finite polynomial of each half, {' and '.join(HALVES)}")
    rows = fits.set_index("half").iterrows()
    return {str(half): Temperature(tuple(row[list(POWERS)]), row["lowest"], row["highest"]) for half, row in rows}, fits


def remove_finished_checkpoints(folder: Path, weights: Mapping[str, np.ndarray]) -> None:
    """Remove the checkpoints of the training that has led to these weights, (S, ...) by name.

    Those of another training, finished or not, are left for when it is run again; so are those that cannot be removed.
    """
    for path in folder.glob("*.safetensors"):
        with suppress(InputError, OSError):
            if _holds(path, weights):
                path.unlink()


def _holds(checkpoint: Path, weights: Mapping[str, np.ndarray]) -> bool:
    """Return whether a checkpoint has the weights of some seeds in a row."""
    about = read_about(checkpoint)
    if about.get("made") != about.get("steps"):
        return False
    kept = read_arrays(checkpoint)
    chunk = {name: kept.get(f"weights.{name}", np.empty(0)) for name in weights}
    number, seeds = (min(map(len, of.values()), default=0) for of in (chunk, weights))
    starts = range(seeds - number + 1) if number else ()
    return any(
        all(np.array_equal(chunk[name], of[first : first + number]) for name, of in weights.items()) for first in starts
    )


def read_weights(path: Path, variant: Variant, training: TaskTraining, seeds: int) -> dict[str, np.ndarray]:
    """Return the weights of a block of `seeds` trained models, (S, ...) float32 by name.

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
    """Return the test sequences of one length, to be read in parts; any number of them.

    Raises InputError when the file is missing or damaged, or holds other arrays than the task draws.
    """
    found = verify(path)
    drawn = layout(task.sample(np.random.default_rng(0), 1, length))
    stored = next((shape[0] for _, shape in found.values() if shape), 1)
    compare(path, found, {name: (dtype, (stored, *shape[1:])) for name, (dtype, shape) in drawn.items()})
    return partial(read_parts, path)
