"""Means over seeds of accuracies in percent, with 95% t intervals.

`accuracy`: task, line, rule, seed, length, accuracy (a fraction). All lines have the same seeds and lengths.
"""

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.harness.runs import RULES
from vanishing_variance.statistics.intervals import interval

CURVES = ("task", "line", "rule", "length", "n", "mean", "low", "high")


def rounded_interval(values: Float[np.ndarray, " S"]) -> list[float]:
    """Return the mean and the ends of its 95% t interval, to six decimals; one seed has no interval (NaN)."""
    mean, low, high = interval(values)
    if len(values) == 1:
        low = high = np.nan
    return [round(mean, 6), round(low, 6), round(high, 6)]


def seed_scores(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return each seed's mean accuracy over the lengths, of one task; a column per line and rule, in their order."""
    scores = {}
    for line_rule, measured in accuracy.groupby(["line", "rule"], sort=False):
        percent = 100 * measured.pivot(index="seed", columns="length", values="accuracy")
        scores[line_rule] = percent.mean(axis=1)
    return pd.DataFrame(scores).rename_axis(columns=["line", "rule"])


def curves(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy against length: a row per task, line, rule and length, with the columns CURVES."""
    rows = []
    for (task, line), of_line in accuracy.groupby(["task", "line"], sort=False):
        for rule in RULES:
            by_length = of_line[of_line["rule"] == rule].groupby("length")["accuracy"]
            for length, fractions in by_length:
                percent = 100 * fractions.to_numpy()
                rows.append((task, line, rule, length, len(percent), *rounded_interval(percent)))
    return pd.DataFrame(rows, columns=CURVES)
