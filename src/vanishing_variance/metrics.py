"""The small numbers that `dvc metrics diff` compares between commits."""

import math
from typing import Any

import pandas as pd


def summary(comparison: pd.DataFrame) -> dict[str, Any]:
    """One range's numbers: temperature -> none, norm (mean accuracy in percent), log10_p -> length -> number.

    Roles, not names: with another treatment the same keys hold its numbers, so that a diff compares them. Lengths are
    zero-padded because DVC sorts keys as text, p is a logarithm because it shows five decimals, and a test that has no
    p-value has no key. p below the smallest double is shown as the smallest, 1e-308.
    """
    document: dict[str, Any] = {}
    for temperature, rows in comparison.groupby("temperature", sort=False):
        tested = rows.dropna(subset="p")
        lengths, tested_lengths = [f"{n:05d}" for n in rows["length"]], [f"{n:05d}" for n in tested["length"]]
        log10_p = [round(math.log10(max(p, 1e-308)), 2) for p in tested["p"]]
        document[str(temperature)] = {
            "none": dict(zip(lengths, rows["baseline"].round(2).tolist(), strict=True)),
            "norm": dict(zip(lengths, rows["treatment"].round(2).tolist(), strict=True)),
            "log10_p": dict(zip(tested_lengths, log10_p, strict=True)),
        }
    return document
