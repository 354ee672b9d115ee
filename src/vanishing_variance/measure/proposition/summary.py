"""Summary of the measured variances: an exponent a feature, and the numbers of `dvc metrics diff`."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.errors import InputError
from vanishing_variance.statistics.intervals import CONFIDENCE
from vanishing_variance.statistics.power_law import power_law


def exponents(cells: pd.DataFrame, tail: int) -> pd.DataFrame:
    """Return one row a model and feature, of what `measure` returns: task, norm, feature, tail, and

    `exponent` of the variance against N at the lengths from `tail` on, with its 95% interval, `low` and `high`; what
    variance times N tends to by the delta method, `predicted`, and is at the longest length, `measured`.
    Raises InputError when a variance is not a positive number.
    """
    rows = []
    without = cells[~(np.isfinite(cells["variance"]) & (cells["variance"] > 0))]
    if len(without):
        whose = ", ".join(f"{name} {without[name].iloc[0]}" for name in ("task", "norm", "feature", "length"))
        raise InputError(
            f"proposition: a variance is {without['variance'].iloc[0]} ({whose}), which has no exponent; "
            "try larger initial weights, or a larger training.learning_rate"
        )
    for (task, norm, feature), of in cells[cells["length"] >= tail].groupby(["task", "norm", "feature"], sort=False):
        law = power_law(of["length"].to_numpy(), of["variance"].to_numpy())
        constants = of[["predicted", "variance"]].iloc[-1] * of["length"].iloc[-1]
        rows.append((task, norm, feature, tail, law.exponent, law.low, law.high, *constants))
    return pd.DataFrame(rows, columns=CSV["proposition-exponents"])


def summary(cells: pd.DataFrame, laws: pd.DataFrame, norm: str) -> dict[str, Any]:
    """Return, by task, role (`none`, or `norm` for the treatment) -> number, of `measure` and `exponents`.

    Over features, the median exponent, and the share whose interval holds -1; over features, the median ratio of what
    was measured at the longest length to the delta method; over features and lengths, the share of variances that are
    above the paper's bound, and the share whose 95% interval is (of the variance: the bound is taken as it is).
    """
    z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    document: dict[str, Any] = {}
    for (task, name), of in cells.groupby(["task", "norm"], sort=False):
        law = laws[(laws["task"] == task) & (laws["norm"] == name)]
        numbers = {
            "variance_exponent": law["exponent"].median(),
            "interval_holds_minus_1": ((law["low"] <= -1) & (law["high"] >= -1)).mean(),
            "measured_over_predicted": (law["measured"] / law["predicted"]).median(),
            "above_bound": (of["variance"] > of["bound"]).mean(),
            "clearly_above_bound": (of["variance"] - z * of["variance_se"] > of["bound"]).mean(),
        }
        role = "norm" if name == norm else "none"
        document.setdefault(str(task), {})[role] = {key: round(float(value), 4) for key, value in numbers.items()}
    return document
