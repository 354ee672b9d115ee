"""Checkpoints, from which a training that was cut off goes on, to the same last bit.

A file for each chunk of seeds, outside of DVC's outputs, which DVC clears away before a stage runs. Its name holds a
fingerprint of all that the training depends on, so that a checkpoint of other parameters or other code is never taken
for this one's: it is left where it is, for when that training is run again.
"""

import hashlib
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from vanishing_variance.engine.device import device
from vanishing_variance.harness.arrays import read_about, read_arrays, write_arrays
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.paths import is_installed
from vanishing_variance.harness.progress import say

# A checkpoint takes a fraction of a second, so this is what a crash may cost.
SECONDS_BETWEEN = 30.0

# Modules that begin a training, and decide nothing of it.
PROGRAMS = ("__main__", "__mp_main__", "stages")

# All that a training has changed after so many steps, by name: to be read or copied into.
StateAfter = Callable[[int], Mapping[str, Tensor]]


class Checkpoint:
    """The checkpoint of one chunk of seeds; without a `path` nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._saved = time.monotonic()

    def due(self) -> bool:
        """Return whether the last one is old enough for another."""
        return self._path is not None and time.monotonic() - self._saved > SECONDS_BETWEEN

    def restore(self, state_after: StateAfter) -> int:
        """Copy the checkpoint into the state, if there is one; return the number of completed steps.

        One that is damaged, or has not the names and shapes of the state, is not used, and a line says so.
        """
        if self._path is None or not self._path.exists():
            return 0
        try:
            arrays = read_arrays(self._path)
            completed = int(read_about(self._path)["completed"])
            state = state_after(completed)
            stored = {name: array.shape for name, array in arrays.items()}
            expected = {name: tensor.shape for name, tensor in state.items()}
            if stored != expected:
                raise InputError(f"{self._path}: holds other arrays")
        except InputError as problem:
            say(f"this checkpoint is not used, and the training starts anew: {problem}")
            return 0
        for name, tensor in state.items():
            tensor.copy_(torch.from_numpy(arrays[name]))
        return completed

    def save(self, state_after: StateAfter, completed: int) -> None:
        """Keep the state after `completed` steps; where it cannot be written, a line says so."""
        if self._path is None:
            return
        try:
            write_arrays(self._path, to_arrays(state_after(completed)), completed=completed)
        except InputError as problem:  # the training may still end well: somebody may make room
            say(f"the training goes on without this checkpoint: {problem}")
        self._saved = time.monotonic()


def to_arrays(tensors: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """Return tensors as arrays on the CPU."""
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}


def fingerprint(*names: object) -> str:
    """Return 16 hex digits of `names` (their `repr`), of what computes, and of the loaded source of the package.

    And of modules of one's own, which are not installed: a normaliser may import them.
    """
    described = repr((names, torch.__version__, np.__version__, device().type))
    digest = hashlib.sha256(described.encode())
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)  # a folder of choices, such as norms/, has none
        if file is not None and _decides(name.split(".")[0], file):
            digest.update(name.encode())
            for path in (Path(file), Path(file).with_suffix(".c")):
                if path.exists():
                    digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _decides(package: str, file: str) -> bool:
    return package == "vanishing_variance" or (package not in PROGRAMS and not is_installed(file))
