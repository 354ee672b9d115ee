"""Small numbers that are compared between commits: by DVC, and length by length in a pull request."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.harness.runs import TASKS
from vanishing_variance.results.accuracy import pair
from vanishing_variance.statistics.paired import difference

# The temperature that is not the paper's uses labels at the test lengths, and says so.
_KEYS = {"fitted": "fitted_with_labels"}


def summary(tests: pd.DataFrame) -> dict[str, Any]:
    """Return one range's numbers: temperature -> none, norm (mean accuracy in percent), log10_p -> length -> number.

    Roles, not names: with another treatment the same keys hold its numbers, so that a diff compares them. Lengths are
    zero-padded because DVC sorts keys as text, p is a logarithm because it shows five decimals, and a test that has no
    p-value has no key.
    """
    document: dict[str, Any] = {}
    for temperature, rows in tests.groupby("temperature", sort=False):
        of = rows.set_index(rows["length"].map("{:05d}".format))
        document[_KEYS.get(str(temperature), str(temperature))] = {
            "none": of["baseline_mean"].round(2).to_dict(),
            "norm": of["treatment_mean"].round(2).to_dict(),
            "log10_p": of["p"].dropna().map(_log10).to_dict(),
        }
    return document


def overview(accuracy: pd.DataFrame, norm: str, longest: Mapping[str, int]) -> dict[str, dict[str, float]]:
    """Return a few numbers a task (or `<task>_long`), plain softmax, over the test lengths beyond training (`longest`).

    `none` and `norm`, mean accuracies in percent; `gain`, the difference in percentage points, and log10 of the p of
    its paired t-test. A column each in `dvc exp show`.
    """
    document: dict[str, dict[str, float]] = {}
    for task in TASKS:
        for name, bound in longest.items():
            ours, none = (of.mean(axis=1) for of in pair(accuracy, task, name, norm, "none", "plain", bound))
            if none.dropna().empty:
                continue
            test = difference(ours.to_numpy(), none.to_numpy())
            means = {"none": none.mean(), "norm": ours.mean(), "gain": test.mean}
            document[task if name == "short" else f"{task}_{name}"] = {
                **{key: round(float(mean), 2) for key, mean in means.items()},
                **({} if np.isnan(test.d_z) else {"log10_p": _log10(test.p)}),
            }
    return document


def _log10(p: float) -> float:
    """Return log10 of p; a p below the smallest double counts as that, 1e-308."""
    return round(math.log10(max(p, 1e-308)), 2)
