import numpy as np
import pytest
from statsmodels.stats.weightstats import DescrStatsW

from vanishing_variance.statistics.paired import difference

BEFORE = np.array([10.0, 12.0, 9.0, 11.0, 13.0])
AFTER = np.array([12.0, 13.0, 9.0, 14.0, 17.0])
# Factors of numbers that are equal but for rounding.
ROUNDED = 1 + np.array([0, 2, -3, 1, 4]) * 2.0**-52


def test_every_number_is_that_of_the_differences_and_pairing_matters():
    draw = np.random.default_rng(1)
    for _ in range(20):
        n = int(draw.integers(2, 60))
        baseline, treatment = draw.normal(80, 5, n), draw.normal(81, 5, n)
        result = difference(treatment, baseline)
        reference = DescrStatsW(treatment - baseline)
        assert (result.n, result.mean) == (n, pytest.approx(reference.mean))
        assert result.p == pytest.approx(reference.ttest_mean()[1], rel=1e-9)
        assert (result.low, result.high) == pytest.approx(reference.tconfint_mean(), rel=1e-9)
        assert result.d_z == pytest.approx(reference.mean / reference.std_ddof(1), rel=1e-9)
    assert difference(treatment, baseline[::-1]).p != result.p


def test_without_two_seeds_there_is_no_test():
    one, none = difference(AFTER[:1], AFTER[:1] - 3), difference(AFTER[:0], AFTER[:0])
    assert (one.n, one.mean, none.n) == (1, 3, 0)
    assert np.isnan([one.p, one.low, one.high, one.d_z, none.mean, none.p]).all()


@pytest.mark.parametrize("by", [0, 0.1, 3])
def test_of_equal_differences_the_limit_of_p_is_known(by):
    for treatment in (BEFORE + by, BEFORE * ROUNDED + by):
        limit = difference(treatment, BEFORE)
        assert limit.low == limit.mean == limit.high == (treatment - BEFORE).mean()
        assert np.isnan(limit.d_z)
        assert limit.p == (0 if by else 1)
    assert difference(np.zeros(3), np.zeros(3)).p == 1
