import numpy as np
import pytest
from scipy import stats

from vanishing_variance.statistics import interval, paired, power_law, variance

BEFORE = np.array([10.0, 12.0, 9.0, 11.0, 13.0])
AFTER = np.array([12.0, 13.0, 9.0, 14.0, 17.0])


def test_a_case_worked_by_hand():
    """Differences 2, 1, 0, 3, 4: mean 2, standard deviation sqrt(2.5), t = 2 / sqrt(2.5 / 5) = 2.828 on 4 df."""
    result = paired(AFTER, BEFORE)
    assert result.n == 5
    assert result.difference == 2
    assert result.effect == pytest.approx(2 / 2.5**0.5)
    assert result.p == pytest.approx(0.04742, abs=5e-6)
    assert result.low == pytest.approx(2 - 2.7764451 * 0.5**0.5, abs=1e-6)
    assert result.high == pytest.approx(2 + 2.7764451 * 0.5**0.5, abs=1e-6)
    assert result.note == ""


def test_it_is_scipys_paired_t_test_and_pairing_matters():
    rng = np.random.default_rng(0)
    for n in (2, 8, 100):
        baseline, treatment = rng.normal(80, 5, n), rng.normal(81, 5, n)
        result, reference = paired(treatment, baseline), stats.ttest_rel(treatment, baseline)
        assert result.p == reference.pvalue
        low, high = reference.confidence_interval(0.95)
        assert (result.low, result.high) == pytest.approx((low, high), rel=1e-12)
    assert paired(treatment, baseline[::-1]).p != result.p


def test_one_seed_and_equal_differences_are_answered_in_words():
    one = paired(np.array([90.0]), np.array([88.0]))
    assert (one.n, one.difference, one.low, one.high, one.effect, one.p) == (1, 2, None, None, None, None)
    assert one.note == "one seed: no test"
    equal = paired(BEFORE + 0.1, BEFORE)
    assert equal.p is None
    assert equal.note == "all differences equal: no test"
    assert paired(BEFORE, BEFORE).note == "all differences equal: no test"


@pytest.mark.parametrize(
    ("treatment", "baseline"),
    [([1.0, 2.0], [1.0]), ([], []), ([1.0, float("nan")], [1.0, 2.0]), ([[1.0]], [[1.0]])],
)
def test_what_is_not_paired_or_not_a_number_is_refused(treatment, baseline):
    with pytest.raises(ValueError, match="paired needs"):
        paired(np.array(treatment), np.array(baseline))


def test_interval():
    mean, low, high = interval(AFTER)
    assert mean == 13
    expected = stats.ttest_1samp(AFTER, 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx(tuple(expected))
    assert interval(np.array([3.0])) == (3, 3, 3)


def test_a_power_law_is_found_exactly():
    lengths = np.array([16, 64, 256, 1024])
    fit = power_law(lengths, 3.0 * lengths**-0.5)
    assert (fit.exponent, fit.scale) == pytest.approx((-0.5, 3.0))
    assert fit.low == pytest.approx(fit.high)
    np.testing.assert_allclose(fit(lengths), 3.0 * lengths**-0.5)


def test_the_interval_of_an_exponent_holds_the_truth_in_95_of_100():
    rng = np.random.default_rng(0)
    lengths = 2.0 ** np.arange(4, 12)
    fits = [power_law(lengths, lengths**-1.0 * np.exp(rng.normal(0, 0.1, 8))) for _ in range(2000)]
    covered = np.mean([fit.low < -1.0 < fit.high for fit in fits])
    assert covered == pytest.approx(0.95, abs=0.015)


def test_two_lengths_give_an_exponent_without_an_interval():
    fit = power_law([16, 64], [4.0, 1.0])
    assert (fit.exponent, fit.low, fit.high) == (pytest.approx(-1.0), None, None)


@pytest.mark.parametrize(
    ("lengths", "values"), [([16], [1.0]), ([16, 16], [1.0, 2.0]), ([16, 32], [1.0, 0.0]), ([16, 32], [1.0, np.nan])]
)
def test_what_has_no_power_law_is_refused(lengths, values):
    with pytest.raises(ValueError, match="power_law needs"):
        power_law(lengths, values)


def test_the_variance_is_unbiased_and_its_error_is_how_much_it_varies():
    estimate, error = variance(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 8.0]]))
    assert estimate.tolist() == pytest.approx([7 / 3, 3])
    assert error.shape == (2,)
    drawn = np.random.default_rng(0).exponential(size=(200, 4000))  # heavy-tailed: a normal error would be half
    estimate, error = variance(drawn)
    assert estimate.mean() == pytest.approx(1, abs=0.01)
    assert estimate.std() == pytest.approx((8 / 200) ** 0.5, rel=0.05)
    assert np.sqrt((error**2).mean()) == pytest.approx(estimate.std(), rel=0.1)
    with pytest.raises(ValueError, match="two values"):
        variance(np.ones((1, 3)))
