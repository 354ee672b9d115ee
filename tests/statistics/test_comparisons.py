import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW

from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.paired import difference
from vanishing_variance.statistics.ratio import ratio
from vanishing_variance.statistics.welch import welch

BEFORE = np.array([10.0, 12.0, 9.0, 11.0, 13.0])
AFTER = np.array([12.0, 13.0, 9.0, 14.0, 17.0])
# Factors of numbers that are equal but for rounding.
ROUNDED = 1 + np.array([0, 2, -3, 1, 4]) * 2.0**-52


def test_every_number_of_a_difference_is_that_of_the_seeds_and_pairing_matters():
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


def test_welch_is_scipys_test_with_its_90_percent_interval():
    rng = np.random.default_rng(0)
    for _ in range(20):
        ours, theirs = rng.normal(0, 1, 9), rng.normal(0, 2, 30)
        errors = ours.std(ddof=1) / 3, theirs.std(ddof=1) / 30**0.5
        p, low, high = welch(ours.mean() - theirs.mean(), errors, (8, 29), 0.9)
        test = stats.ttest_ind(ours, theirs, equal_var=False)
        assert p == pytest.approx(test.pvalue)
        assert (low, high) == pytest.approx(test.confidence_interval(0.9))


def test_the_ends_of_a_ratio_are_those_that_a_t_test_just_rejects():
    rng = np.random.default_rng(0)
    numerator, denominator = rng.normal(0.3, 0.1, 8), rng.normal(0.5, 0.1, 8)
    numerator += 0.5 * denominator
    found = ratio(numerator, denominator)
    assert found.value == pytest.approx(numerator.mean() / denominator.mean())
    for end in (found.low, found.high):
        assert stats.ttest_1samp(numerator - end * denominator, 0).pvalue == pytest.approx(0.05)
    assert found.low < found.value < found.high
    assert found.note == ""


def test_a_denominator_that_may_be_0_has_no_ratio_and_one_seed_has_no_interval():
    found = ratio(np.array([0.1, 0.2]), np.array([-0.1, 0.3]))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.note.endswith("may be 0: no ratio")
    found = ratio(np.array([0.1]), np.array([0.4]))
    assert (found.value, found.note) == (pytest.approx(0.25), "one seed: no interval")
    assert np.isnan([found.low, found.high]).all()
    assert ratio(np.array([0.1]), np.array([0.0])).note == "denominator 0 may be 0: no ratio"


def test_holm_is_statsmodels(monkeypatch):
    monkeypatch.setattr("gc.collect", lambda: 0)  # which it calls each time, and is slow among many modules
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.uniform(size=rng.integers(1, 15)) ** 3
        p[rng.integers(0, len(p))] = rng.choice([0, 1, p[0]])
        np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-9, atol=0)


def test_a_test_that_was_not_made_does_not_count():
    p = np.array([np.nan, 0.01, np.nan, 0.04])
    np.testing.assert_array_equal(holm(p), [np.nan, 0.02, np.nan, 0.04])
    assert np.isnan(holm(np.full(3, np.nan))).all()
    assert holm(np.array([])).shape == (0,)
    np.testing.assert_array_equal(p, [np.nan, 0.01, np.nan, 0.04])
