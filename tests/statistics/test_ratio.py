import numpy as np
import pytest
from scipy import stats

from vanishing_variance.statistics.ratio import ratio


def test_its_ends_are_the_ratios_that_a_t_test_just_rejects():
    rng = np.random.default_rng(0)
    numerator, denominator = rng.normal(0.3, 0.1, 8), rng.normal(0.5, 0.1, 8)
    found = ratio(numerator, denominator)
    assert found.value == pytest.approx(numerator.mean() / denominator.mean())
    for end in (found.low, found.high):
        assert stats.ttest_1samp(numerator - end * denominator, 0).pvalue == pytest.approx(0.05)
    assert found.low < found.value < found.high
    assert found.note == ""


def test_pairs_that_are_proportional_have_one_ratio():
    denominator = np.array([0.4, 0.5, 0.6])
    found = ratio(0.5 * denominator, denominator)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5), abs=1e-6)


def test_it_holds_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(1)
    pairs = ((rng.normal(0.2, 0.1, 6), rng.normal(0.4, 0.1, 6)) for _ in range(2_000))
    held = [one.low <= 0.5 <= one.high for one in (ratio(*pair) for pair in pairs) if not np.isnan(one.low)]
    assert len(held) > 1_990
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)


def test_a_denominator_that_may_be_0_has_no_ratio():
    found = ratio(np.array([0.1, 0.2]), np.array([-0.1, 0.3]))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.note.endswith("may be 0: no ratio")
    assert np.isnan(ratio(np.array([0.1]), np.array([0.0])).value)


def test_one_seed_has_no_interval():
    found = ratio(np.array([0.1]), np.array([0.4]))
    assert found.value == pytest.approx(0.25)
    assert np.isnan([found.low, found.high]).all()
    assert found.note == "one seed: no interval"


def test_it_refuses_what_is_not_paired(unchecked):
    for pair in (([1.0], [1.0, 2.0]), ([], []), ([np.nan], [1.0])):
        with pytest.raises(ValueError, match="ratio needs"):
            ratio(*(np.array(values, dtype=float) for values in pair))
