"""Named arrays as safetensors: no pickle, and the same arrays give the same bytes."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from vanishing_variance.errors import InputError
from vanishing_variance.io.files import write


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays."""
    write(path, lambda to: save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, to))


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read named arrays. Raises InputError when the file is missing or damaged."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as problem:
        raise _unreadable(path, problem) from None


def read_parts(path: Path, size: int) -> Iterator[dict[str, np.ndarray]]:
    """Read named arrays that share their first axis, `size` of it at a time, so that a large file needs little memory.

    Raises InputError when the file is missing or damaged.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 -- not a mapping
            length = min((array.get_shape()[0] for array in arrays.values()), default=0)
            for first in range(0, length, size):
                yield {name: array[first : min(first + size, length)] for name, array in arrays.items()}
    except (OSError, SafetensorError) as problem:
        raise _unreadable(path, problem) from None


def _unreadable(path: Path, problem: Exception) -> InputError:
    return InputError(f"{path}: cannot be read as safetensors: {problem}; delete it and run dvc repro")
