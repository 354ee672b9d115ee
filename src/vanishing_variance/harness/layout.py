"""Names, dtypes and shapes of stored arrays, and the check of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vanishing_variance.harness.errors import InputError

# Of each array its type and its shape.
Layout = Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]


def layout(arrays: Mapping[str, np.ndarray]) -> Layout:
    """Return the types and shapes of arrays."""
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}


def compare(path: Path, found: Layout, expected: Layout) -> None:
    """Raise InputError, which names the first array of the file `path` that is missing, different or too many."""
    for name, (dtype, shape) in expected.items():
        if name not in found:
            raise refused(path, f"has no {name}")
        if found[name] != (dtype, shape):
            there, stored = found[name]
            raise refused(path, f"holds {name} as {there} {stored}, must be {dtype} {shape}")
    for name in found:
        if name not in expected:
            raise refused(path, f"holds {name}, which does not belong there")


def refused(path: Path, why: str) -> InputError:
    """Return the error for a file that another stage wrote."""
    return InputError(f"{path}: {why}; delete it and run dvc repro")
