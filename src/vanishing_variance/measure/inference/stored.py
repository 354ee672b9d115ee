"""Stored weights and test sequences."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from vanishing_variance.engine.run import Run
from vanishing_variance.harness import paths
from vanishing_variance.harness.arrays import read_about, read_arrays, read_parts
from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure.inference.sequences import Read


def weight_files(run: Run) -> dict[str, Path]:
    """Return the files of a trained block by rule: `last`, the last weights, and those kept beside them."""
    beside = sorted(set(run.folder("trained").glob("*.safetensors")) - {run.weights})
    return {"last": run.weights, **{path.stem: path for path in beside}}


def open_sequences(task_name: str, lengths: Iterable[int]) -> dict[int, Read]:
    """Return the stored test sequences of a task by length. Raises InputError when a file is missing or cut off."""
    sequences: dict[int, Read] = {}
    for length in lengths:
        path = paths.sequences(task_name, length)
        read_about(path)  # a missing file is noticed now, not after hours
        sequences[length] = partial(read_parts, path)
    return sequences


def remove_finished_checkpoints(folder: Path, weights: Mapping[str, np.ndarray]) -> None:
    """Remove the last checkpoints of the training that led to these weights, (S, ...) by name.

    Those of another training are left for when it is run again; so are those that cannot be read or removed.
    """
    for path in folder.glob("*.safetensors"):
        with suppress(InputError, OSError, KeyError):
            arrays = read_arrays(path)
            for seed in range(len(next(iter(weights.values())))):
                if all(np.array_equal(arrays[f"weights.{name}"][0], values[seed]) for name, values in weights.items()):
                    path.unlink()
                    break
