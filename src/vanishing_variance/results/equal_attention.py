"""The gain over `none` split at equal attention on the target, by regression over seeds."""

from collections.abc import Mapping
from itertools import product

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.compare.gains import ENDS
from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.statistics.intervals import interval

COLUMNS = ["task", "range", "treatment", "n"]
COLUMNS += [f"{view}{end}" for view in ("gain", "at_baseline", "at_own") for end in ENDS]
NOTE = (
    "Points of accuracy, mean over the test lengths beyond training, with 95% t intervals over n seeds. *At "
    "none's attention*, *at its own*: what is left at an equal mean attention weight of the target, the mean of either "
    "arm, by a regression line an arm, not paired. This describes, since the weight is an effect of the "
    "treatment, too; metrics/interventions/interventions.md sets the weight instead, in models of the default scale."
)


def split(beside: pd.DataFrame, longest: Mapping[str, int]) -> pd.DataFrame:
    """Return a row a task, range and treatment: its gain over `none` in points, and at equal attention.

    `beside`: the frame of `inside.beside_accuracy`; `longest`: the longest training length by range. COLUMNS:
    `gain`, paired by seed; `at_baseline`, `at_own`, what is left of it at the mean weight of either arm
    (`statistics.adjusted`).
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
            gain = interval(100 * (treated - untreated))
            at_baseline, at_own = adjusted(100 * treated, 100 * untreated, weight, untreated_weight)
            names = (task, range_, treatment, len(both))
            found.append((*names, *gain, *at_baseline, *at_own))
    return pd.DataFrame(found, columns=COLUMNS)


def markdown(parts: pd.DataFrame) -> str:
    """Return `split` as Markdown."""
    lines = []
    for task, range_, treatment, n, *values in parts[COLUMNS].to_numpy():
        texts = [estimate("+.1f", *values[place : place + 3]) for place in (0, 3, 6)]
        lines.append([f"{task}, {range_}, {treatment}", str(n), *texts])
    body = table(["", "n", "gain", "at none's attention", "at its own"], lines)
    return f"# The gain over none at equal attention on the target\n\n{body}\n\n{NOTE}\n"
