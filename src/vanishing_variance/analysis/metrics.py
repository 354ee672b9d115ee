"""Small numbers that are compared between commits: by DVC, and length by length in a pull request."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.core.seeding import stream
from vanishing_variance.statistics.paired import paired
from vanishing_variance.study.results import beyond_training, of_both
from vanishing_variance.study.runs import TASKS


def summary(tests: pd.DataFrame) -> dict[str, Any]:
    """Return one range's numbers: temperature -> none, norm (mean accuracy in percent), log10_p -> length -> number.

    Roles, not names: with another treatment the same keys hold its numbers, so that a diff compares them. Lengths are
    zero-padded because DVC sorts keys as text, p is a logarithm because it shows five decimals, and a test that has no
    p-value has no key.
    """
    document: dict[str, Any] = {}
    for temperature, rows in tests.groupby("temperature", sort=False):
        tested = rows.dropna(subset="p")
        lengths, tested_lengths = [f"{n:05d}" for n in rows["length"]], [f"{n:05d}" for n in tested["length"]]
        log10_p = [_log10(p) for p in tested["p"]]
        document[str(temperature)] = {
            "none": dict(zip(lengths, rows["baseline_mean"].round(2).tolist(), strict=True)),
            "norm": dict(zip(lengths, rows["treatment_mean"].round(2).tolist(), strict=True)),
            "log10_p": dict(zip(tested_lengths, log10_p, strict=True)),
        }
    return document


def overview(accuracy: pd.DataFrame, norm: str, longest: Mapping[str, int], root: int) -> dict[str, dict[str, float]]:
    """Return a few numbers a task (or `<task>_long`), plain softmax, over the test lengths beyond training (`longest`).

    `none` and `norm`, mean accuracies in percent; `gain`, the difference in percentage points, and log10 of the p of
    its paired t-test. A column each in `dvc exp show`.
    """
    document: dict[str, dict[str, float]] = {}
    for task in TASKS:
        for name, bound in longest.items():
            none, ours = of_both(
                *(beyond_training(accuracy, task, name, one, "plain", bound) for one in ("none", norm))
            )
            if none.empty:
                continue
            test = paired(ours.to_numpy(), none.to_numpy(), stream(root, "bootstrap", task, name, norm, "beyond"))
            means = {"none": none.mean(), "norm": ours.mean(), "gain": test.difference}
            document[task if name == "short" else f"{task}_{name}"] = {
                **{key: round(float(mean), 2) for key, mean in means.items()},
                **({} if test.p is None else {"log10_p": _log10(test.p)}),
            }
    return document


def _log10(p: float) -> float:
    """Return log10 of p; a p below the smallest double counts as that, 1e-308."""
    return round(math.log10(max(p, 1e-308)), 2)
