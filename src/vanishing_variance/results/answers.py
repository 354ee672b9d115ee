"""Stored answers: whether each answer of each trained model is correct."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.layout import compare, layout
from vanishing_variance.harness.runs import TEMPERATURES


def read_answers(paths: Iterable[Path], lengths: Sequence[int], seeds: int) -> list[dict[str, np.ndarray]]:
    """Return the answers of each file, by `<temperature>-<length>`: (seeds, sequences) bool.

    Raises InputError when a file is missing or damaged, holds other arrays than these, or other numbers of sequences
    than the first file: variants are compared sequence by sequence.
    """
    names = [f"{temperature}-{length}" for temperature in TEMPERATURES for length in lengths]
    read: list[dict[str, np.ndarray]] = []
    for path in paths:
        arrays = read_arrays(path)
        sequences = {name: array.shape[-1:] for name, array in (read or [arrays])[0].items()}
        compare(path, layout(arrays), {name: (np.dtype(bool), (seeds, *sequences.get(name, ()))) for name in names})
        read.append(arrays)
    return read
