import numpy as np
import pytest
from scipy import stats

from vanishing_variance.statistics.ratio import ratio


def test_its_ends_are_the_ratios_that_a_t_test_just_rejects():
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
