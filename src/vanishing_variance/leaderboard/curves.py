"""Accuracy against length: of every line and rule at test time, at every test length."""

import numpy as np
import pandas as pd

from vanishing_variance.leaderboard.files import RULES
from vanishing_variance.leaderboard.rows import by_seed
from vanishing_variance.statistics.intervals import interval

COLUMNS = ("task", "line", "rule", "length", "n", "mean", "low", "high")


def curves(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return a row a task, line, rule and length: COLUMNS, the mean over n seeds in percent, with its 95% t interval.

    `accuracy`: task, line, rule, seed, length, accuracy (a fraction); rows are by task and line in its order, by rule
    as in RULES and by length. One seed has no interval. Rounded as the board is. Raises InputError as `by_seed` does.
    """
    rows = []
    for task, of_task in accuracy.groupby("task", sort=False):
        percent = by_seed(of_task)
        lines = dict.fromkeys(line for line, _ in percent)
        for key in ((line, rule) for line in lines for rule in RULES if (line, rule) in percent):
            for length, values in percent[key].items():
                mean, *ends = interval(values.to_numpy())
                ends = ends if len(values) > 1 else [np.nan, np.nan]
                rows.append((task, *key, length, len(values), *(round(number, 6) for number in (mean, *ends))))
    return pd.DataFrame(rows, columns=COLUMNS)
