import numpy as np
import pytest
from statsmodels.stats.weightstats import DescrStatsW

from vanishing_variance.statistics.intervals import interval, mean_estimate, rounding


def rng(seed=0):
    return np.random.default_rng(seed)


def test_the_t_interval():
    for n in range(2, 30):
        values = rng(n).normal(80, 5, n)
        mean, low, high = interval(values)
        assert mean == values.mean()
        assert (low, high) == pytest.approx(DescrStatsW(values).tconfint_mean(), rel=1e-9)


@pytest.mark.parametrize(
    ("values", "expected", "said"),
    [
        ([], (np.nan, np.nan, np.nan), "–"),
        ([3.0], (3, np.nan, np.nan), "+3.0 pp"),
        ([3.0, 3.0], (3, 3, 3), "+3.0 pp [+3.0, +3.0]"),
    ],
)
def test_fewer_than_two_seeds_have_no_interval(values, expected, said):
    values = np.array(values)
    assert interval(values) == pytest.approx(expected, nan_ok=True)
    assert mean_estimate(values, "+.1f", " pp") == said


def test_rounding_is_relative_to_the_largest_whatever_its_sign():
    assert rounding(np.array([-200.0, 1.0]), np.array([3.0])) == 2e-10
    assert rounding(np.array([3.0]), np.array([[-200.0], [1.0]])) == 2e-10
    assert rounding(np.zeros(4)) == 0
