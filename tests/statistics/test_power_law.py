import numpy as np
import pytest
from statsmodels.api import OLS, add_constant

from vanishing_variance.statistics.power_law import power_law


def test_a_power_law_is_found_exactly():
    lengths = np.array([16, 64, 256, 1024])
    fit = power_law(lengths, 3.0 * lengths**-0.5)
    assert (fit.exponent, fit.scale) == pytest.approx((-0.5, 3.0))
    assert fit.low == pytest.approx(fit.high)


def test_it_is_the_least_squares_line_of_the_logarithms():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        lengths, values = 2.0 ** np.arange(3 + seed % 9), rng.lognormal(size=3 + seed % 9)
        fit, line = power_law(lengths, values), OLS(np.log(values), add_constant(np.log(lengths))).fit()
        assert (np.log(fit.scale), fit.exponent) == pytest.approx(tuple(line.params), rel=1e-9, abs=1e-12)
        assert (fit.low, fit.high) == pytest.approx(tuple(line.conf_int()[1]), rel=1e-9)


def test_the_interval_of_an_exponent_holds_the_truth_in_95_of_100():
    rng = np.random.default_rng(0)
    lengths = 2.0 ** np.arange(4, 12)
    fits = [power_law(lengths, lengths**-1.0 * np.exp(rng.normal(0, 0.1, 8))) for _ in range(2000)]
    covered = np.mean([fit.low < -1.0 < fit.high for fit in fits])
    assert covered == pytest.approx(0.95, abs=0.015)


def test_two_lengths_give_an_exponent_without_an_interval():
    fit = power_law(np.array([16, 64]), np.array([4.0, 1.0]))
    assert fit.exponent == pytest.approx(-1.0)
    assert np.isnan([fit.low, fit.high]).all()


@pytest.mark.parametrize(
    ("lengths", "values"), [([16], [1.0]), ([16, 16], [1.0, 2.0]), ([16, 32], [1.0, 0.0]), ([16, 32], [1.0, np.nan])]
)
def test_what_has_no_power_law_is_refused(lengths, values):
    with pytest.raises(ValueError, match="power_law needs"):
        power_law(np.array(lengths), np.array(values))
