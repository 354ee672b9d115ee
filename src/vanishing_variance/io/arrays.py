"""Named arrays as safetensors: no pickle, and the same arrays give the same bytes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
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
        raise InputError(f"{path}: cannot be read as safetensors: {problem}; delete it and run dvc repro") from None
