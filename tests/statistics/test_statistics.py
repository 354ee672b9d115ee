"""Statistics against scipy, statsmodels, and cases that are known."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from statsmodels.api import OLS, add_constant
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW

from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.statistics.comparisons import difference, holm
from vanishing_variance.statistics.components import Components, components
from vanishing_variance.statistics.intervals import PRIOR_VARIANCE, anytime_interval, interval, mean_estimate
from vanishing_variance.statistics.moments import variance
from vanishing_variance.statistics.power_law import power_law
from vanishing_variance.statistics.ratio import ratio

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
def test_equal_differences_have_a_mean_and_no_test_but_where_they_are_0(by):
    for treatment in (BEFORE + by, BEFORE * ROUNDED + by):
        equal = difference(treatment, BEFORE)
        assert equal.mean == (treatment - BEFORE).mean()
        assert np.isnan(equal.d_z)
        assert np.isnan([equal.low, equal.high, equal.p]).all() == (by != 0)
        assert by or (equal.low, equal.high, equal.p) == (equal.mean, equal.mean, 1)
    assert difference(np.zeros(3), np.zeros(3)).p == 1


def test_the_ends_of_a_ratio_are_those_that_a_t_test_just_rejects():
    rng = np.random.default_rng(0)
    numerator, denominator = rng.normal(0.3, 0.1, 8), rng.normal(0.5, 0.1, 8)
    numerator += 0.5 * denominator
    value, low, high = ratio(numerator, denominator)
    assert value == pytest.approx(numerator.mean() / denominator.mean())
    for end in (low, high):
        assert stats.ttest_1samp(numerator - end * denominator, 0).pvalue == pytest.approx(0.05)
    assert low < value < high


def test_a_denominator_that_may_be_0_has_no_ratio_and_one_seed_has_no_interval():
    assert np.isnan(ratio(np.array([0.1, 0.2]), np.array([-0.1, 0.3]))).all()
    assert np.isnan(ratio(np.array([0.1]), np.array([0.0]))).all()
    value, *ends = ratio(np.array([0.1]), np.array([0.4]))
    assert value == pytest.approx(0.25)
    assert np.isnan(ends).all()


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


@pytest.mark.parametrize(
    ("values", "expected", "said"),
    [
        ([], (np.nan, np.nan, np.nan), "–"),
        ([3.0], (3, np.nan, np.nan), "+3.0 pp"),
        ([3.0, 3.0], (3, 3, 3), "+3.0 pp [+3.0, +3.0]"),
    ],
)
def test_fewer_than_two_seeds_have_no_interval(values, expected, said):
    values = np.array(values)
    assert interval(values) == pytest.approx(expected, nan_ok=True)
    assert mean_estimate(values, "+.1f", " pp") == said


def test_the_error_of_a_variance_in_a_case_worked_by_hand():
    """0, 0, 0, 4: the mean is 1, s^2 = 12 / 3 and m_4 = 84 / 4."""
    estimate, error = variance(np.array([[0.0], [0.0], [0.0], [4.0]]))
    assert estimate.tolist() == [4]
    assert error.tolist() == pytest.approx([((21 - 4**2 / 3) / 4) ** 0.5])


def test_a_power_law_is_the_least_squares_line_of_the_logarithms():
    for number in range(3, 12):
        rng = np.random.default_rng(number)
        lengths, values = 2.0 ** np.arange(number), rng.lognormal(size=number)
        fit, line = power_law(lengths, values), OLS(np.log(values), add_constant(np.log(lengths))).fit()
        assert (np.log(fit.scale), fit.exponent) == pytest.approx(tuple(line.params), rel=1e-9, abs=1e-12)
        assert (fit.low, fit.high) == pytest.approx(tuple(line.conf_int()[1]), rel=1e-9)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_what_has_no_logarithm_is_refused(value):
    with pytest.raises(ValueError, match="power_law needs positive finite values"):
        power_law(np.array([16, 64]), np.array([1.0, value]))


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
def test_at_the_ends_of_an_anytime_interval_the_integrated_bayes_factor_is_20(n):
    values = np.random.default_rng(n).normal(4, 3, n)
    mean, low, high = anytime_interval(values)
    assert mean == values.mean()
    for end in (low, high):
        assert bayes_factor(values, end) == pytest.approx(20, rel=1e-5)
    assert bayes_factor(values, mean) < 1
    assert bayes_factor(values, high + 0.1 * (high - mean)) > 20


def test_an_anytime_interval_is_unbounded_while_no_t_would_be_enough():
    for n in range(1, 5):
        values = np.arange(n) + 1e6  # t is so large that the Bayes factor against 0 has reached its limit
        assert anytime_interval(values) == pytest.approx((values.mean(), np.nan, np.nan), nan_ok=True)
        limit = (1 + n * PRIOR_VARIANCE) ** ((n - 1) / 2)
        assert limit < 20
    assert np.isfinite(anytime_interval(np.arange(5.0))).all()
    assert anytime_interval(np.full(8, 3.0)) == (3, 3, 3)


def test_components_are_the_mean_squares_of_a_two_way_analysis_of_variance():
    rng = np.random.default_rng(0)
    cut = 0
    for _ in range(12):
        s, i = rng.integers(2, 7, 2)
        by_seed, by_sequence, both = rng.uniform(0, 1, 3)
        d = by_seed * rng.normal(size=(s, 1)) + by_sequence * rng.normal(size=(1, i)) + both * rng.normal(size=(s, i))
        frame = pd.DataFrame({"d": d.ravel(), "seed": np.repeat(np.arange(s), i), "sequence": np.tile(np.arange(i), s)})
        table = anova_lm(ols("d ~ C(seed) + C(sequence)", frame).fit())
        by_seed, by_sequence, both = table["mean_sq"]
        seed, sequence = (by_seed - both) / i, (by_sequence - both) / s
        cut += min(seed, sequence) < 0
        parts = np.array([max(seed, 0) / s, max(sequence, 0) / i, both / (s * i)])
        found = components(d)
        assert found.se == pytest.approx(parts.sum() ** 0.5, rel=1e-9)
        shares = (found.share_seeds, found.share_sequences, found.share_both)
        assert shares == pytest.approx(tuple(parts / parts.sum()), rel=1e-9, abs=1e-9)
    assert 0 < cut < 12


def test_one_seed_one_sequence_and_equal_differences_have_no_shares():
    for shape in ((1, 9), (9, 1)):
        assert components(np.random.default_rng(0).normal(size=shape)) == Components()
    for value in (0.0, 0.1):
        assert components(np.full((3, 4), value)) == Components(se=0.0)


def drawn(rng, n, slope, gain=0.0, noise=1.0, mean=0.0):
    """Return outcomes on a line in a covariate, and the covariate."""
    covariate = rng.normal(mean, 1, n)
    return gain + slope * covariate + rng.normal(0, noise, n), covariate


def mean_at(outcome, covariate, value):
    """Return a line at a value, the variance of that, and its degrees of freedom, by the textbook."""
    line = stats.linregress(covariate, outcome)
    residuals = outcome - line.intercept - line.slope * covariate
    n, spread = len(outcome), np.sum((covariate - covariate.mean()) ** 2)
    variance = residuals @ residuals / (n - 2) * (1 / n + (value - covariate.mean()) ** 2 / spread)
    return line.intercept + line.slope * value, variance, n - 2


def test_it_is_the_difference_of_two_regression_lines_at_the_mean_of_either_arm():
    rng = np.random.default_rng(0)
    (ours, our_covariate), (theirs, their_covariate) = drawn(rng, 9, -1, 2, mean=-1), drawn(rng, 14, -3, noise=4)
    found = adjusted(ours, theirs, our_covariate, their_covariate)
    for estimate, value in zip(found, (their_covariate.mean(), our_covariate.mean()), strict=True):
        (line, variance, n), (other, others, m) = (
            mean_at(*arm, value) for arm in ((ours, our_covariate), (theirs, their_covariate))
        )
        freedom = (variance + others) ** 2 / (variance**2 / n + others**2 / m)
        interval = stats.t.interval(0.95, freedom, line - other, np.sqrt(variance + others))
        assert estimate == pytest.approx((line - other, *interval))


def test_what_has_no_line_has_no_difference():
    rng = np.random.default_rng(2)
    outcome, covariate = drawn(rng, 8, 1)
    for ours, equal in ((outcome[:2], covariate[:2]), (outcome, np.ones(8)), (outcome, 1 + 1e-15 * np.arange(8))):
        assert np.isnan(adjusted(ours, outcome, equal, covariate)).all()
        assert np.isnan(adjusted(outcome, ours, covariate, equal)).all()
    assert np.isnan(adjusted(np.ones(8), np.ones(8), covariate, covariate)).all()
