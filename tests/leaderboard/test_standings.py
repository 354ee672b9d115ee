from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from vanishing_variance.leaderboard.standings import Standing, standings


def by_seed(values, first=0):
    return pd.Series(values, index=range(first, first + len(values)), dtype=float)


def brute_force(scores):
    """Each row's standing, pair by pair, corrected over all pairs; the seeds are the same in all rows."""
    pairs = list(combinations(scores, 2))
    p = [stats.ttest_rel(scores[one], scores[other]).pvalue for one, other in pairs]
    rejected = dict(zip(pairs, multipletests(p, alpha=0.05, method="holm")[0], strict=True))
    found = {}
    for row, of in scores.items():
        told_apart = [other for other in scores if rejected.get((row, other)) or rejected.get((other, row))]
        better = [other for other in told_apart if scores[other].mean() > of.mean()]
        rank = 1 + sum(other.mean() > of.mean() for other in scores.values())
        found[row] = Standing(rank, 1 + len(better), len(scores) - (len(told_apart) - len(better)))
    return found


def test_standings_are_those_of_every_pair_by_hand():
    rng = np.random.default_rng(1)
    for _ in range(3):
        seeds = rng.normal(0, 1, 8)  # which pairing takes out
        means = rng.uniform(80, 84, 7)
        scores = {row: by_seed(mean + seeds + rng.normal(0, 0.7, 8)) for row, mean in enumerate(means)}
        assert standings(scores) == brute_force(scores)
    assert standings({}) == {}


def test_rows_that_are_all_100_percent_cannot_be_told_apart():
    low, full = by_seed(90 + np.arange(6) / 10), np.full(6, 100.0)
    found = standings({"low": low, "one": by_seed(full), "other": by_seed(full * (1 - 2.0**-52))})
    assert found == {"low": Standing(3, 3, 3), "one": Standing(1, 1, 2), "other": Standing(1, 1, 2)}


def test_pairs_are_over_the_seeds_that_both_have():
    noise = np.array([3.0, -3, 2, -2, 1, -1, 0, 0, 5, -5])
    ours, theirs = by_seed(90 + noise), by_seed(89 + noise[3:] + [0.1, 0, -0.1, 0, 0.1, 0, -0.1], first=3)
    assert standings({"ours": ours, "theirs": theirs}) == {"ours": Standing(1, 1, 1), "theirs": Standing(2, 2, 2)}
    apart = by_seed(theirs.to_numpy(), first=20)
    assert {(of.low, of.high) for of in standings({"ours": ours, "apart": apart}).values()} == {(1, 2)}
