"""The gain over `none` split at equal attention on the target, by regression over seeds."""

from collections.abc import Mapping
from itertools import product

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.statistics.intervals import interval

COLUMNS = ["task", "range", "treatment", "n", "gain", "gain_low", "gain_high", "attention", "read_out", "low", "high"]
NOTE = (
    "Points of accuracy, mean over the test lengths beyond training, with 95% t intervals over n seeds. Read-out: the "
    "gain at an equal mean attention weight of the target, by a line in that weight with one slope for both arms "
    "(analysis of covariance); attention: the rest of the gain. This describes, since the weight is an effect of the "
    "treatment, too; metrics/interventions/interventions.md sets the weight instead, in models of the default scale."
)


def split(beside: pd.DataFrame, longest: Mapping[str, int]) -> pd.DataFrame:
    """Return a row a task, range and treatment: its gain over `none` in percentage points, and its two parts.

    `beside`: the frame of `inside.beside_accuracy`; `longest`: the longest training length by range. COLUMNS:
    `gain` with its interval, paired by seed; `read_out` with its own (`low`, `high`); `attention`, gain less read-out.
    """
    beyond = beside[beside["length"] > beside["range"].map(longest)]
    means = beyond.pivot_table(["accuracy", "target"], ["task", "range", "seed"], "norm")
    found = []
    for (task, range_), seeds in means.groupby(["task", "range"], sort=False):
        for treatment in seeds["accuracy"].columns.drop("none", errors="ignore"):
            arms = product(("accuracy", "target"), (treatment, "none"))
            both = seeds.reindex(columns=list(arms)).dropna()
            if both.empty:
                continue
            treated, untreated, weight, untreated_weight = both.to_numpy().T
            gain, gain_low, gain_high = interval(100 * (treated - untreated))
            read_out, low, high = adjusted(100 * treated, 100 * untreated, weight, untreated_weight)
            names = (task, range_, treatment, len(both))
            found.append((*names, gain, gain_low, gain_high, gain - read_out, read_out, low, high))
    return pd.DataFrame(found, columns=COLUMNS)


def markdown(parts: pd.DataFrame) -> str:
    """Return `split` as Markdown."""
    lines = []
    for task, range_, treatment, n, *values in parts[COLUMNS].to_numpy():
        gain, attention, read_out = values[:3], values[3:4], values[4:]
        texts = [estimate("+.1f", *numbers) for numbers in (gain, attention, read_out)]
        lines.append([f"{task}, {range_}, {treatment}", str(n), *texts])
    body = table(["", "n", "gain", "attention", "read-out"], lines)
    return f"# The gain over none at equal attention on the target\n\n{body}\n\n{NOTE}\n"
