import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import ttost_ind

from vanishing_variance.statistics.welch import welch


def test_it_is_scipys_welch_test_and_its_interval_decides_statsmodels_equivalence_test():
    rng = np.random.default_rng(0)
    equivalent = set()
    for _ in range(20):
        ours, theirs = rng.normal(0, 1, 9), rng.normal(0, 2, 30)
        errors = ours.std(ddof=1) / 3, theirs.std(ddof=1) / 30**0.5
        p, low, high = welch(ours.mean() - theirs.mean(), errors, (9, 30))
        test = stats.ttest_ind(ours, theirs, equal_var=False)
        assert p == pytest.approx(test.pvalue)
        assert (low, high) == pytest.approx(test.confidence_interval(0.9))
        is_within = low > -1 and high < 1
        assert is_within == (ttost_ind(ours, theirs, -1, 1, usevar="unequal")[0] < 0.05)
        equivalent.add(is_within)
    assert equivalent == {True, False}


def test_without_an_error_there_is_no_test():
    for errors in ((0.0, 0.0), (1.0, math.inf), (1.0, math.nan)):
        assert np.isnan(welch(1.0, errors, (8, 100))).all()
