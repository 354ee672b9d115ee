"""Summary of the measured variances: what is drawn, an exponent a feature, and the numbers of `dvc metrics diff`."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.harness.errors import InputError
from vanishing_variance.statistics.intervals import CONFIDENCE
from vanishing_variance.statistics.power_law import power_law

# The band of features around their median.
LOW, HIGH = 0.1, 0.9
DRAWN = ["task", "line", "feature", "tail", "exponent", "low", "high"]
COLUMNS = [*DRAWN, "predicted", "measured"]


def lines(cells: pd.DataFrame) -> pd.DataFrame:
    """Return task, line, length, n, and quantiles over features, relative to sigma_d^2, one item's variance.

    `median`, `low` and `high` of the variance; the medians of the delta method's, `predicted`, and of the `bound`.
    """
    quantities = ["variance", "predicted", "bound"]
    measured = cells[[*quantities, "item_variance"]].astype(np.float32)  # as they were measured
    relative = cells.assign(**measured[quantities].div(measured["item_variance"], axis=0))
    groups = relative.groupby(["task", "line", "length", "n"], sort=False)
    drawn = groups[quantities].median().rename(columns={"variance": "median"})
    drawn["low"] = groups["variance"].quantile(LOW)
    drawn["high"] = groups["variance"].quantile(HIGH)
    return drawn.reset_index()


def exponents(cells: pd.DataFrame, tail: int) -> pd.DataFrame:
    """Return one row a model and feature, of what `measure` returns. COLUMNS: task, line, feature, tail, and

    `exponent` of the variance against N at the lengths from `tail` on, with its 95% interval, `low` and `high`; N times
    the variance at the longest length by the delta method, `predicted`, and as it is, `measured`.
    Raises InputError when a variance is not a positive number.
    """
    rows = []
    long = cells[cells["length"] >= tail]
    for (task, line, feature), group in long.groupby(["task", "line", "feature"], sort=False):
        variances = group["variance"].to_numpy(dtype=float)
        try:
            law = power_law(group["length"].to_numpy(), variances)
        except ValueError:
            raise InputError(
                f"proposition: task {task}, line {line}, feature {feature}: its variance is not always positive, "
                "so it has no exponent; try larger initial weights, or a larger training.learning_rate"
            ) from None
        longest = group["length"].iloc[-1]
        predicted, measured = group[["predicted", "variance"]].iloc[-1] * longest
        rows.append((task, line, feature, tail, law.exponent, law.low, law.high, predicted, measured))
    return pd.DataFrame(rows, columns=COLUMNS)


def summary(cells: pd.DataFrame, laws: pd.DataFrame, norm: str) -> dict[str, Any]:
    """Return, by task, role (`none`, or `norm` for the treatment) -> number, of `measure` and `exponents`.

    Over features, the median exponent, and the share whose interval holds -1; over features, the median ratio of what
    was measured at the longest length to the delta method; over features and lengths, the share of variances that are
    above the paper's bound, and the share whose 95% interval is (of the variance: the bound is taken as it is).
    """
    z = stats.norm.ppf((1 + CONFIDENCE) / 2)
    document: dict[str, Any] = {}
    for (task, name), group in cells.groupby(["task", "line"], sort=False):
        law = laws[(laws["task"] == task) & (laws["line"] == name)]
        holds = (law["low"] <= -1) & (law["high"] >= -1)
        ratio = law["measured"] / law["predicted"]
        least = group["variance"] - z * group["variance_se"]
        numbers = {
            "variance_exponent": law["exponent"].median(),
            "interval_holds_minus_1": holds.mean(),
            "measured_over_predicted": ratio.median(),
            "above_bound": group["variance"].gt(group["bound"]).mean(),
            "clearly_above_bound": least.gt(group["bound"]).mean(),
        }
        role = "norm" if name == norm else "none"
        of_task = document.setdefault(str(task), {})
        of_task[role] = {key: round(float(value), 4) for key, value in numbers.items()}
    return document
