"""Named arrays as safetensors, with a checksum: the same arrays give the same bytes, and a flipped bit is noticed."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_bytes

# The one key of the file's metadata, since the order of several is not always the same: JSON.
_ABOUT = "about"


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], **about: Any) -> None:
    """Write named arrays with their checksum, and what JSON can say `about` them."""
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    about = {"sha256": _sha256(contiguous)} | about
    content = save(contiguous, {_ABOUT: json.dumps(about)})
    write_bytes(path, content)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read named arrays. Raises InputError when the file is missing or damaged."""
    with _opened(path) as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 -- not a mapping
        if _sha256(arrays) != _metadata(file).get("sha256"):
            raise ValueError("its checksum does not fit")
    return arrays


def read_about(path: Path) -> dict[str, Any]:
    """Return what the file says about its arrays. Raises InputError when it is missing or damaged."""
    with _opened(path) as file:
        return _metadata(file)


def read_parts(path: Path, size: int) -> Iterator[dict[str, np.ndarray]]:
    """Yield named arrays that share their first axis, `size` of it at a time, so that a large file needs little memory.

    Raises InputError when the file is missing or cut off; parts have no checksum.
    """
    with _opened(path) as file:
        arrays = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 -- not a mapping
        number, *_ = next(iter(arrays.values())).get_shape()
        for first in range(0, number, size):
            part = slice(first, min(first + size, number))
            yield {name: array[part] for name, array in arrays.items()}


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file, and raise InputError for what goes wrong with it."""
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except (OSError, ValueError, SafetensorError) as problem:
        raise InputError(f"{path}: cannot be read as safetensors: {problem}; delete it and run dvc repro") from None


def _metadata(file: Any) -> dict[str, Any]:
    metadata = file.metadata() or {}
    about: dict[str, Any] = json.loads(metadata.get(_ABOUT, "{}"))
    return about


def _sha256(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}\0".encode())
        digest.update(array.data)
    return digest.hexdigest()
