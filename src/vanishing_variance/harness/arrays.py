"""Named arrays as safetensors: no pickle, the same arrays give the same bytes, and a flipped bit is noticed."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_bytes

# The one key of the file's metadata, since the order of several is not always the same: JSON.
_ABOUT = "about"

_ELEMENTS_AT_ONCE = 2**20


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], **about: Any) -> None:
    """Write named arrays with their checksum, and what JSON can say `about` them."""
    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_bytes(path, save(whole, {_ABOUT: json.dumps({"sha256": _sha256(whole), **about})}))


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read named arrays. Raises InputError when the file is missing or damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- not a mapping
    except (OSError, SafetensorError) as problem:
        raise _unreadable(path, problem) from None
    if _sha256(arrays) != read_about(path)["sha256"]:
        raise _unreadable(path, "its checksum does not fit")
    return arrays


def read_parts(path: Path, size: int) -> Iterator[dict[str, np.ndarray]]:
    """Yield named arrays that share their first axis, `size` of it at a time, so that a large file needs little memory.

    Raises InputError when the file is missing or damaged, but for its checksum: that is for `verify` to compare.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 -- not a mapping
            length = min((array.get_shape()[0] for array in arrays.values()), default=0)
            for first in range(0, length, size):
                yield {name: array[first : min(first + size, length)] for name, array in arrays.items()}
    except (OSError, SafetensorError) as problem:
        raise _unreadable(path, problem) from None


def verify(path: Path) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """Compare the checksum of a file for `read_parts`, a part at a time; return the type and shape of every array.

    Raises InputError when the file is missing or damaged.
    """
    digest = hashlib.sha256()
    found: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}
    try:
        with safe_open(path, framework="numpy") as file:
            for name in sorted(file.keys()):
                array = file.get_slice(name)
                shape = tuple(array.get_shape())
                found[name] = (array[:1].dtype, shape)
                digest.update(_head(name, *found[name]))
                rows = max(1, _ELEMENTS_AT_ONCE // max(1, math.prod(shape[1:])))
                for first in range(0, shape[0], rows):
                    digest.update(array[first : min(first + rows, shape[0])].data)
    except (OSError, IndexError, SafetensorError) as problem:
        raise _unreadable(path, problem) from None
    if digest.hexdigest() != read_about(path)["sha256"]:
        raise _unreadable(path, "its checksum does not fit")
    return found


def read_about(path: Path) -> dict[str, Any]:
    """Return what the file says about its arrays. Raises InputError when it is missing or damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {}).get(_ABOUT, "{}"))
    except (OSError, ValueError, SafetensorError) as problem:
        raise _unreadable(path, problem) from None
    return {"sha256": None, **about}


def _sha256(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(_head(name, array.dtype, array.shape))
        digest.update(array.data)
    return digest.hexdigest()


def _head(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    return f"{name} {dtype} {shape}\0".encode()


def _unreadable(path: Path, problem: object) -> InputError:
    return InputError(f"{path}: cannot be read as safetensors: {problem}; delete it and run dvc repro")
