import numpy as np
import pytest
from statsmodels.api import OLS, add_constant

from vanishing_variance.statistics.power_law import power_law


def test_it_is_the_least_squares_line_of_the_logarithms():
    for number in range(3, 12):
        rng = np.random.default_rng(number)
        lengths, values = 2.0 ** np.arange(number), rng.lognormal(size=number)
        fit, line = power_law(lengths, values), OLS(np.log(values), add_constant(np.log(lengths))).fit()
        assert (np.log(fit.scale), fit.exponent) == pytest.approx(tuple(line.params), rel=1e-9, abs=1e-12)
        assert (fit.low, fit.high) == pytest.approx(tuple(line.conf_int()[1]), rel=1e-9)


def test_two_lengths_give_an_exponent_without_an_interval():
    fit = power_law(np.array([16, 64]), np.array([4.0, 1.0]))
    assert fit.exponent == pytest.approx(-1.0)
    assert np.isnan([fit.low, fit.high]).all()


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_what_has_no_logarithm_is_refused(value):
    with pytest.raises(ValueError, match="power_law needs positive finite values"):
        power_law(np.array([16, 64]), np.array([1.0, value]))
