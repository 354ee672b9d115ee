"""Paired t-tests of the rows of one task: against the baseline, and between all pairs.

`scores`: a row per seed, a column per line and rule, the larger the better.
"""

from collections import Counter
from collections.abc import Hashable
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
    rows = [astuple(difference(others[column].to_numpy(), theirs)) for column in others]
    table = pd.DataFrame(rows, index=others.columns, columns=TESTS)
    table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
    return table.round(dict.fromkeys(["difference", "difference_low", "difference_high", "d_z"], 6))


def standings(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rank of each column by its mean, and the lowest and highest rank that the tests leave it.

    p is adjusted by Holm's method over all pairs. `rank_low` is 1 + how many columns are significantly better,
    `rank_high` is how many there are less those that are significantly worse. Equal means share a rank.
    """
    pairs = list(combinations(scores, 2))
    differences = [difference(scores[one].to_numpy(), scores[other].to_numpy()) for one, other in pairs]
    adjusted = holm(np.array([tested.p for tested in differences]))
    better, worse = Counter[Hashable](), Counter[Hashable]()
    for (one, other), tested, p in zip(pairs, differences, adjusted, strict=True):
        if p < ALPHA:
            ahead, behind = (one, other) if tested.mean > 0 else (other, one)
            worse[ahead] += 1
            better[behind] += 1
    means = scores.mean().round(9)  # equal but for rounding
    table = pd.DataFrame({"rank": means.rank(ascending=False, method="min").astype(int)})
    table["rank_low"] = [1 + better[column] for column in scores]
    table["rank_high"] = [len(means) - worse[column] for column in scores]
    return table
