"""Ranks within a task, by paired t-tests between all pairs of rows."""

from collections.abc import Hashable, Mapping
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from vanishing_variance.results.accuracy import of_both
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.paired import difference
from vanishing_variance.statistics.power import ALPHA

Row = TypeVar("Row", bound=Hashable)


class Standing(NamedTuple):
    """A row's rank by its mean, and the lowest and highest that the tests leave it; ranks of equal means are equal."""

    rank: int
    low: int
    high: int


def standings(scores: Mapping[Row, "pd.Series[Any]"]) -> dict[Row, Standing]:
    """Return the standing of each row, of its score by seed: the larger, the better.

    Each pair is compared over the seeds that both have, its p adjusted by Holm's method over all pairs. `low` is 1 +
    how many rows are significantly better, `high` how many rows there are, less those that are significantly worse.
    """
    pairs = list(combinations(scores, 2))
    found = [difference(*(of.to_numpy() for of in of_both(scores[one], scores[other]))) for one, other in pairs]
    better, worse = dict.fromkeys(scores, 0), dict.fromkeys(scores, 0)
    for pair, of, p in zip(pairs, found, holm(np.array([of.p for of in found])), strict=True):
        if p < ALPHA:
            ahead, behind = pair if of.mean > 0 else pair[::-1]
            worse[ahead] += 1
            better[behind] += 1
    means = pd.Series([of.mean() for of in scores.values()]).round(9)  # equal but for rounding
    ranks = means.rank(ascending=False, method="min").astype(int)
    return {
        row: Standing(int(rank), 1 + better[row], len(scores) - worse[row])
        for row, rank in zip(scores, ranks, strict=True)
    }
