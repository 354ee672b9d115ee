import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from statsmodels.api import OLS, add_constant
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from vanishing_variance.statistics.anytime import PRIOR_VARIANCE, anytime_interval
from vanishing_variance.statistics.components import Components, components
from vanishing_variance.statistics.intervals import interval, mean_estimate
from vanishing_variance.statistics.moments import variance
from vanishing_variance.statistics.power_law import power_law


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
    for _ in range(30):
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
    assert 0 < cut < 30


def test_one_seed_one_sequence_and_equal_differences_have_no_shares():
    for shape in ((1, 9), (9, 1)):
        assert components(np.random.default_rng(0).normal(size=shape)) == Components()
    for value in (0.0, 0.1):
        assert components(np.full((3, 4), value)) == Components(se=0.0)
