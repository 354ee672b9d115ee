import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from vanishing_variance.statistics.power import seeds_for_equivalence, seeds_for_power


def test_seeds_for_power_is_the_fewest_from_three_to_a_million():
    for effect in (0.004, 0.6, -1.2, 4.0):
        n = seeds_for_power(effect)
        power, with_one_less = (TTestPower().power(effect, seeds, 0.05) for seeds in (n, n - 1))
        assert power >= 0.9 > with_one_less
    assert seeds_for_power(40.0) == seeds_for_power(1e300) == 3
    assert seeds_for_power(0.0) is seeds_for_power(3.2e-3) is None
    assert 990_000 < seeds_for_power(3.25e-3) <= 10**6


def test_so_many_seeds_have_an_interval_within_the_margin_nine_times_in_ten():
    n = seeds_for_equivalence(1.5, 1.0)
    values = np.random.default_rng(0).normal(0, 1.5, (20_000, n))
    half = stats.t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / n**0.5
    assert (np.abs(values.mean(axis=1)) + half < 1).mean() == pytest.approx(0.9, abs=0.03)
    assert seeds_for_equivalence(0, 1.0) == 2
    assert seeds_for_equivalence(1e6, 1.0) is None
