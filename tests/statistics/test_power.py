import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from statsmodels.stats.power import TTestPower

from vanishing_variance.statistics.power import power, seeds_for_power


def averaged(effect, n, alpha):
    """The power at each standard deviation s that the sample may have, averaged over s."""
    critical, shift = stats.t.ppf(1 - alpha / 2, n - 1), effect * n**0.5
    spread = stats.chi(n - 1, scale=(n - 1) ** -0.5)
    ends = spread.ppf([1e-12, 1 - 1e-12])
    between = np.clip(abs(shift) / critical + np.array([-0.3, 0, 0.3]), *ends)

    def at(s):
        return spread.pdf(s) * (stats.norm.sf(critical * s - shift) + stats.norm.cdf(-critical * s - shift))

    return quad(at, *ends, points=between, limit=200, epsabs=1e-11, epsrel=0)[0]


def test_it_is_statsmodels_power_and_the_normal_tests_averaged():
    rng, compared = np.random.default_rng(0), 0
    for _ in range(100):
        effect, n, alpha = rng.normal(), int(rng.integers(2, 200)), rng.choice([0.05, 0.01])
        found = power(effect, n, alpha)
        assert found == pytest.approx(averaged(effect, n, alpha), abs=1e-9)
        expected = TTestPower().power(effect, n, alpha, alternative="two-sided")
        if np.isfinite(expected):  # it is not for some large effects
            compared += 1
            assert found == pytest.approx(expected, abs=1e-9)
    assert compared > 60


def test_needed_is_what_statsmodels_solves_for():
    rng = np.random.default_rng(1)
    for _ in range(100):
        effect = rng.choice([-1, 1]) * 10 ** rng.uniform(-2, 0)
        solved = float(np.squeeze(TTestPower().solve_power(abs(effect), None, 0.05, 0.9)))
        assert seeds_for_power(effect) == np.ceil(solved)


def test_needed_is_the_fewest():
    for effect in (0.004, 0.1, 0.6, -1.2, 2.5, 5.0):
        n = seeds_for_power(effect)
        assert power(effect, n) >= 0.9 > power(effect, n - 1)
    assert seeds_for_power(40.0) == seeds_for_power(1e12) == 2
    assert seeds_for_power(0.6, 0.5) < seeds_for_power(0.6) < seeds_for_power(0.6, 0.99)


def test_an_effect_that_a_million_seeds_do_not_show_needs_none():
    assert seeds_for_power(0.0) is None
    assert seeds_for_power(3.2e-3) is None
    assert 990_000 < seeds_for_power(3.25e-3) <= 10**6


def test_without_an_effect_the_power_is_alpha():
    assert power(0.0, 8) == pytest.approx(0.05)
    assert power(0.0, 8, 0.01) == pytest.approx(0.01)


def test_it_grows_to_one_and_never_ends_in_nan():
    for n in (2, 3, 8, 100, 10**6):
        powers = [power(effect, n) for effect in np.r_[0, np.geomspace(1e-6, 1e300, 400)]]
        assert np.isfinite(powers).all()
        assert (np.diff(powers) > -1e-9).all()
        assert powers[-1] == power(-1e300, n) == 1
    assert power(-0.7, 8) == power(0.7, 8)


def test_as_many_studies_find_the_effect():
    differences = np.random.default_rng(0).normal(0.8, 1, (20_000, 8))
    found = (stats.ttest_1samp(differences, 0, axis=1).pvalue < 0.05).mean()
    assert power(0.8, 8) == pytest.approx(found, abs=0.01)


def test_one_seed_has_no_power():
    with pytest.raises(ValueError, match="two seeds"):
        power(0.5, 1)
