import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from vanishing_variance.statistics.intervals import bootstrap, interval, mean_estimate, rounding


def rng(seed=0):
    return np.random.default_rng(seed)


def test_the_t_interval():
    for n in range(2, 30):
        values = rng(n).normal(80, 5, n)
        mean, low, high = interval(values)
        assert mean == values.mean()
        assert (low, high) == pytest.approx(DescrStatsW(values).tconfint_mean(), rel=1e-9)
    assert interval(np.array([3.0])) == (3, 3, 3)
    assert mean_estimate(np.array([3.0]), ".1f", " points") == "3.0 points"
    assert mean_estimate(np.array([3.0, 3.0]), "+.1f") == "+3.0 [+3.0, +3.0]"


def test_the_bootstrap_is_bias_corrected_and_accelerated():
    """By Efron's formulas, and resamples drawn here: the ends agree up to the chance of 9,999 resamples."""
    values = rng(1).exponential(size=20)
    drawn = rng(2).choice(values, (200_000, 20)).mean(1)
    bias = stats.norm.ppf((drawn < values.mean()).mean())
    cubes, squares = (((values.mean() - values) ** power).sum() for power in (3, 2))
    skew = -cubes / (6 * squares**1.5)
    z = bias + stats.norm.ppf([0.025, 0.975])
    expected = np.quantile(drawn, stats.norm.cdf(bias + z / (1 - skew * z)))
    ends = np.array([bootstrap(values, rng(seed)) for seed in range(20)])
    np.testing.assert_allclose(ends.mean(0), expected, rtol=0.01)


def test_the_bootstrap_is_the_streams_and_has_9999_resamples():
    values = rng().normal(size=8)
    assert bootstrap(values, rng(3)) == bootstrap(values, rng(3)) != bootstrap(values, rng(4))
    ends = np.array([bootstrap(values, rng(seed)) for seed in range(30)])
    assert (ends.std(0) < 0.02 * values.std()).all()


@pytest.mark.parametrize("values", [[2.0], [0.0] * 8, [0.3, 0.1 + 0.2]])
def test_what_does_not_vary_has_no_bootstrap(values):
    assert bootstrap(np.array(values), rng()) is None


def test_rounding_is_relative_to_the_largest_whatever_its_sign():
    assert rounding(np.array([-200.0, 1.0]), np.array([3.0])) == 2e-10
    assert rounding(np.array([3.0]), np.array([[-200.0], [1.0]])) == 2e-10
    assert rounding(np.zeros(4)) == 0
