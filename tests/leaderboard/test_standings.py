from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from vanishing_variance.leaderboard.standings import Standing, standings

FULL = np.full(6, 100.0)


def by_seed(values, first=0):
    return pd.Series(values, index=range(first, first + len(values)), dtype=float)


def brute_force(scores):
    """Each row's bounds, pair by pair; the seeds are the same in all rows."""
    pairs = list(combinations(scores, 2))
    p = [stats.ttest_rel(scores[one], scores[other]).pvalue for one, other in pairs]
    rejected = dict(zip(pairs, multipletests(p, alpha=0.05, method="holm")[0], strict=True))
    bounds = {}
    for row, of in scores.items():
        told_apart = [other for other in scores if rejected.get((row, other)) or rejected.get((other, row))]
        better = [other for other in told_apart if scores[other].mean() > of.mean()]
        bounds[row] = (1 + len(better), len(scores) - (len(told_apart) - len(better)))
    return bounds


def test_ranks_are_those_of_every_pair_by_hand():
    rng = np.random.default_rng(1)
    told_apart = set()
    for _ in range(10):
        seeds = rng.normal(0, 1, 8)  # which pairing takes out
        means = rng.uniform(80, 84, 7)
        scores = {row: by_seed(mean + seeds + rng.normal(0, 0.7, 8)) for row, mean in enumerate(means)}
        found = standings(scores)
        assert {row: (of.low, of.high) for row, of in found.items()} == brute_force(scores)
        order = sorted(scores, key=lambda row: -scores[row].mean())
        assert [found[row].rank for row in order] == [1, 2, 3, 4, 5, 6, 7]
        told_apart |= {of.high - of.low for of in found.values()}
    assert len(told_apart) > 3


def test_holm_counts_all_pairs():
    """A pair with p between 0.05 / 3 and 0.05 is told apart alone, and not among three."""
    ours, theirs = by_seed([91.0, 92, 93, 94, 95]), by_seed([90.0, 92, 92, 93, 93])
    assert 0.05 / 3 < stats.ttest_rel(ours, theirs).pvalue < 0.05
    assert standings({"ours": ours, "theirs": theirs})["theirs"] == Standing(2, 2, 2)
    middle = by_seed([90.0, 93, 92, 94, 93.5])
    assert standings({"ours": ours, "theirs": theirs, "middle": middle})["theirs"] == Standing(3, 1, 3)


def test_rows_that_are_all_100_percent_cannot_be_told_apart():
    low = by_seed(90 + np.arange(6) / 10)
    found = standings({"low": low, "one": by_seed(FULL), "other": by_seed(FULL * (1 - 2.0**-52))})
    assert found == {"low": Standing(3, 3, 3), "one": Standing(1, 1, 2), "other": Standing(1, 1, 2)}


def test_pairs_are_over_the_seeds_that_both_have():
    noise = np.array([3.0, -3, 2, -2, 1, -1, 0, 0, 5, -5])
    ours, theirs = by_seed(90 + noise), by_seed(89 + noise[3:] + [0.1, 0, -0.1, 0, 0.1, 0, -0.1], first=3)
    assert standings({"ours": ours, "theirs": theirs}) == {"ours": Standing(1, 1, 1), "theirs": Standing(2, 2, 2)}
    apart = by_seed(theirs.to_numpy(), first=20)
    assert {(of.low, of.high) for of in standings({"ours": ours, "apart": apart}).values()} == {(1, 2)}


def test_a_row_alone_is_first_and_no_rows_have_no_ranks():
    assert standings({"alone": by_seed(FULL)}) == {"alone": Standing(1, 1, 1)}
    assert standings({}) == {}
