"""Paired t-tests of the rows of one task: against the baseline, and between all pairs.

`scores`: a row per seed, a column per line and rule, the larger the better.
"""

from dataclasses import astuple
from itertools import combinations

import numpy as np
import pandas as pd

from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.paired import difference
from vanishing_variance.statistics.power import ALPHA

TESTS = ["n_paired", "difference", "difference_low", "difference_high", "d_z", "p"]


def gains(scores: pd.DataFrame, baseline: tuple[str, str]) -> pd.DataFrame:
    """Return the difference of each other column from the baseline's, with p adjusted by Holm's method over them."""
    if baseline not in scores:
        return pd.DataFrame(index=scores.columns)
    others = scores.drop(columns=[baseline])
    theirs = scores[baseline].to_numpy()
    tests = [difference(ours, theirs) for ours in others.to_numpy().T]
    table = pd.DataFrame(map(astuple, tests), index=others.columns, columns=TESTS)
    table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
    rounded = table[TESTS].drop(columns=["n_paired", "p"]).round(6)
    return table.assign(**rounded)


def standings(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rank of each column by its mean, and the lowest and highest rank that the tests leave it.

    p is adjusted by Holm's method over all pairs. `rank_low` is 1 + how many columns are significantly better,
    `rank_high` is how many there are less those that are significantly worse. Equal means share a rank.
    """
    values = scores.to_numpy().T  # a row per column of `scores`
    pairs = list(combinations(range(len(values)), 2))
    tests = [difference(values[first], values[second]) for first, second in pairs]
    adjusted = holm(np.array([test.p for test in tests]))
    means = scores.mean().round(9)  # equal but for rounding
    table = pd.DataFrame({"rank": means.rank(ascending=False, method="min").astype(int)})
    rank_low = np.ones(len(table), dtype=int)
    rank_high = np.full(len(table), len(table))
    for (first, second), test, p in zip(pairs, tests, adjusted, strict=True):
        if p < ALPHA:
            better, worse = (first, second) if test.mean > 0 else (second, first)
            rank_low[worse] += 1
            rank_high[better] -= 1
    return table.assign(rank_low=rank_low, rank_high=rank_high)
