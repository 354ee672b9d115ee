"""Checkpoints, from which a training that was cut off goes on, to the same last bit.

A file for each chunk of seeds, outside of DVC's outputs, which DVC clears away before a stage runs. Its name holds a
fingerprint of all that the training depends on, so that a checkpoint of other parameters or other code is never taken
for this one's: it is left where it is, for when that training is run again.
"""

import hashlib
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import torch

from vanishing_variance.engine.device import device
from vanishing_variance.harness.arrays import read_about, read_arrays, write_arrays
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.layout import layout

# A checkpoint takes a fraction of a second, so this is what a crash may cost.
SECONDS_BETWEEN = 30.0


def fingerprint(*names: object) -> str:
    """Return 16 hex digits of `names` (their `repr`), of the package's loaded source, and of what computes."""
    digest = hashlib.sha256(repr((names, torch.__version__, np.__version__, device().type)).encode())
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)  # a folder of choices, such as norms/, has none
        if name.partition(".")[0] == "vanishing_variance" and file is not None:
            source = Path(file)
            digest.update(name.encode())
            for path in (source, source.with_suffix(".c")):
                digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()[:16]


def load(path: Path, like: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], int] | None:
    """Return the arrays of a checkpoint and the number of completed steps; None where none can be used.

    One that is damaged, or has not the names, shapes and types of `like`, is not used, and a line says so.
    """
    if not path.exists():
        return None
    try:
        arrays, about = read_arrays(path), read_about(path)
    except InputError as problem:
        print(f"this checkpoint is not used, and the training starts anew: {problem}", file=sys.stderr, flush=True)
        return None
    if layout(arrays) != layout(like):
        print(f"this checkpoint has other arrays, and the training starts anew: {path}", file=sys.stderr, flush=True)
        return None
    return arrays, about["made"]


def save(path: Path, arrays: Mapping[str, np.ndarray], made: int, steps: int) -> None:
    """Keep the arrays after `made` of `steps` steps; where they cannot be written, a line says so."""
    try:
        write_arrays(path, arrays, made=made, steps=steps)
    except InputError as problem:  # the training may still end well: somebody may make room
        print(f"the training goes on without this checkpoint: {problem}", file=sys.stderr, flush=True)


def others(folder: Path, own: Collection[Path]) -> list[Path]:
    """Checkpoints in `folder` that are not among one's `own`."""
    return sorted(path for path in folder.glob("*.safetensors") if path not in own)
