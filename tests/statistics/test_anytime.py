import numpy as np
import pytest
from scipy import integrate, stats

from vanishing_variance.statistics.anytime import PRIOR_VARIANCE, anytime_interval


def bayes_factor(values, mu):
    """The density of t under effects from N(0, g) over that without an effect, by numerical integration."""
    n = len(values)
    t = float(stats.ttest_1samp(values, mu).statistic)
    prior = stats.norm(0, PRIOR_VARIANCE**0.5)
    # The density of t is a normal one with the mean √n effect where the effect is near t / √n; elsewhere it is 0.
    ends = sorted((0.0, t / n**0.5))
    span = ends[0] - 5, ends[1] + 5

    def density(effect):
        return prior.pdf(effect) * stats.nct.pdf(t, n - 1, n**0.5 * effect)

    return integrate.quad(density, *span, points=ends, limit=200)[0] / stats.t.pdf(t, n - 1)


@pytest.mark.parametrize("n", [5, 8, 16, 40, 104])
def test_at_its_ends_the_integrated_bayes_factor_is_20(n):
    values = np.random.default_rng(n).normal(4, 3, n)
    mean, low, high = anytime_interval(values)
    assert mean == values.mean()
    for end in (low, high):
        assert bayes_factor(values, end) == pytest.approx(20, rel=1e-5)
    assert bayes_factor(values, mean) < 1
    assert bayes_factor(values, high + 0.1 * (high - mean)) > 20


def test_it_is_unbounded_while_no_t_would_be_enough():
    for n in range(1, 5):
        values = np.arange(n) + 1e6  # t is so large that the Bayes factor against 0 has reached its limit
        assert anytime_interval(values) == pytest.approx((values.mean(), np.nan, np.nan), nan_ok=True)
        limit = (1 + n * PRIOR_VARIANCE) ** ((n - 1) / 2)
        assert limit < 20
    assert np.isfinite(anytime_interval(np.arange(5.0))).all()
    assert anytime_interval(np.full(8, 3.0)) == (3, 3, 3)
