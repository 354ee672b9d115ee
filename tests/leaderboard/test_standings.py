from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from vanishing_variance.leaderboard.standings import standings


def by_hand(scores):
    """Return the ranks of each column, pair by pair, corrected over all pairs."""
    pairs = list(combinations(scores, 2))
    p = [stats.ttest_rel(scores[one], scores[other]).pvalue for one, other in pairs]
    rejected, *_ = multipletests(p, alpha=0.05, method="holm")
    means = scores.mean()
    better, worse = dict.fromkeys(scores, 0), dict.fromkeys(scores, 0)
    for (one, other), differ in zip(pairs, rejected, strict=True):
        if differ:
            first, second = (one, other) if means[one] > means[other] else (other, one)
            worse[first] += 1
            better[second] += 1
    return [[1 + sum(means > means[row]), 1 + better[row], len(means) - worse[row]] for row in scores]


@pytest.mark.parametrize("seed", [1, 2])
def test_standings_are_those_of_every_pair_by_hand(seed):
    rng = np.random.default_rng(seed)
    of_seeds = rng.normal(0, 1, (8, 1))  # which pairing takes out
    of_rows = rng.uniform(80, 84, 7)
    scores = pd.DataFrame(of_rows + of_seeds + rng.normal(0, 0.7, (8, 7)))
    assert standings(scores).to_numpy().tolist() == by_hand(scores)


def test_columns_that_are_all_100_percent_cannot_be_told_apart():
    full = np.full(6, 100.0)
    scores = pd.DataFrame({"low": 90 + np.arange(6) / 10, "one": full, "other": full * (1 - 2.0**-52)})
    assert standings(scores).to_numpy().tolist() == [[3, 3, 3], [1, 1, 2], [1, 1, 2]]
