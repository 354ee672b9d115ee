import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from vanishing_variance.statistics import intervals
from vanishing_variance.statistics.intervals import bootstrap, interval


def rng(seed=0):
    return np.random.default_rng(seed)


def test_the_t_interval():
    for seed in range(100):
        values = rng(seed).normal(80, 5, 2 + seed % 30)
        mean, low, high = interval(values)
        assert mean == values.mean()
        assert (low, high) == pytest.approx(DescrStatsW(values).tconfint_mean(), rel=1e-9)
    assert interval(np.array([3.0])) == (3, 3, 3)


def test_the_bootstrap_is_bias_corrected_and_accelerated():
    """By Efron's formulas, and resamples drawn here: the ends agree up to the chance of 9,999 resamples."""
    values = rng(1).exponential(size=20)
    drawn = rng(2).choice(values, (400_000, 20)).mean(1)
    bias = stats.norm.ppf((drawn < values.mean()).mean())
    cubes, squares = (((values.mean() - values) ** power).sum() for power in (3, 2))
    skew = -cubes / (6 * squares**1.5)
    z = bias + stats.norm.ppf([0.025, 0.975])
    expected = np.quantile(drawn, stats.norm.cdf(bias + z / (1 - skew * z)))
    ends = np.array([bootstrap(values, rng(seed)) for seed in range(20)])
    np.testing.assert_allclose(ends.mean(0), expected, rtol=0.01)
    percentile = np.quantile(drawn, [0.025, 0.975])
    assert (np.abs(percentile / expected - 1) > 0.03).all()


def test_the_bootstrap_is_the_streams_and_has_9999_resamples():
    values = rng().normal(size=8)
    assert bootstrap(values, rng(3)) == bootstrap(values, rng(3)) != bootstrap(values, rng(4))
    ends = np.array([bootstrap(values, rng(seed)) for seed in range(50)])
    assert (ends.std(0) < 0.02 * values.std()).all()


@pytest.mark.parametrize(("n", "share"), [(8, 0.88), (50, 0.94)])
def test_the_bootstrap_holds_the_mean_as_often_as_it_says(monkeypatch, n, share):
    monkeypatch.setattr(intervals, "RESAMPLES", 999)
    ends = [bootstrap(rng(seed).normal(3, 1, n), rng(seed)) for seed in range(1500)]
    assert np.mean([low < 3 < high for low, high in ends]) == pytest.approx(share, abs=0.018)


@pytest.mark.parametrize("values", [[2.0], [0.0] * 8, [0.1] * 8, [0.3, 0.1 + 0.2]])
def test_what_does_not_vary_has_no_bootstrap(values):
    assert bootstrap(np.array(values), rng()) is None


@pytest.mark.parametrize("values", [[2.0, 3.0], [0.0] * 7 + [1.0], [0.0] * 99 + [1.0], [1e-9, 2e-9, 0.0]])
def test_what_hardly_varies_has_one_without_a_warning(values):
    low, high = bootstrap(np.array(values), rng())
    assert min(values) <= low < high <= max(values)


def test_what_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match="finite"):
        bootstrap(np.array([1.0, np.nan]), rng())
