import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from vanishing_variance.statistics.intervals import bootstrap
from vanishing_variance.statistics.paired import difference, paired
from vanishing_variance.statistics.power import seeds_for_power

BEFORE = np.array([10.0, 12.0, 9.0, 11.0, 13.0])
AFTER = np.array([12.0, 13.0, 9.0, 14.0, 17.0])
UNKNOWN = ("boot_low", "boot_high", "d_z", "p", "p_wilcoxon")
# Factors of numbers that are equal but for rounding.
ROUNDED = 1 + np.array([0, 2, -3, 1, 4]) * 2.0**-52


def rng(seed=0):
    return np.random.default_rng(seed)


def test_every_number_is_that_of_the_differences_and_pairing_matters():
    draw = rng(1)
    for seed in range(20):
        n = int(draw.integers(2, 60))
        baseline, treatment = draw.normal(80, 5, n), draw.normal(81, 5, n)
        result, differences = paired(treatment, baseline, rng(seed)), treatment - baseline
        reference = DescrStatsW(differences)
        assert result.p == pytest.approx(reference.ttest_mean()[1], rel=1e-9)
        assert (result.low, result.high) == pytest.approx(reference.tconfint_mean(), rel=1e-9)
        assert result.d_z == pytest.approx(reference.mean / reference.std_ddof(1), rel=1e-9)
        assert result.p_wilcoxon == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue, rel=1e-9)
        assert (result.boot_low, result.boot_high) == bootstrap(differences, rng(seed))
        assert result.seeds_for_power == seeds_for_power(result.d_z)
    assert paired(treatment, baseline[::-1], rng()).p != result.p


def test_one_seed_is_no_test():
    one = paired(np.array([90.0]), np.array([88.0]), rng())
    assert (one.n, one.mean, one.seeds_for_power) == (1, 2, None)
    assert one.note == "one seed: no test"
    assert np.isnan([getattr(one, name) for name in ("low", "high", *UNKNOWN)]).all()
    one, none = difference(AFTER[:1], AFTER[:1] - 3), difference(AFTER[:0], AFTER[:0])
    assert (one.n, one.mean, none.n) == (1, 3, 0)
    assert np.isnan([one.p, one.low, one.d_z, none.mean, none.p]).all()


@pytest.mark.parametrize("by", [0, 0.1, 3])
def test_equal_differences_are_no_test_and_the_limit_of_p_is_known(by):
    for treatment in (BEFORE + by, BEFORE * ROUNDED + by):
        equal, limit = paired(treatment, BEFORE, rng()), difference(treatment, BEFORE)
        assert equal.low == equal.mean == equal.high == limit.low == (treatment - BEFORE).mean()
        assert equal.note == "all differences equal: no test"
        assert np.isnan([getattr(equal, name) for name in UNKNOWN]).all()
        assert equal.seeds_for_power is None
        assert np.isnan(limit.d_z)
        assert limit.p == (0 if by else 1)
    assert difference(np.zeros(3), np.zeros(3)).p == 1


def test_differences_that_no_study_would_show_are_answered_in_words():
    result = paired(np.array([90.0, 91.0, 92.0]), np.array([91.0, 91.0, 91.0]), rng())
    assert (result.mean, result.p, result.p_wilcoxon) == (0, 1, 1)
    assert (result.seeds_for_power, result.note) == (None, "more than 1,000,000 seeds needed")
