import numpy as np
import pytest

from vanishing_variance.statistics.association import association
from vanishing_variance.statistics.components import components
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import bootstrap
from vanishing_variance.statistics.moments import variance
from vanishing_variance.statistics.paired import paired
from vanishing_variance.statistics.power_law import power_law
from vanishing_variance.statistics.ratio import ratio

NAN, ONE, TWO, NONE = np.array([np.nan, 1.0]), np.ones(1), np.array([1.0, 2.0]), np.ones(0)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("function", "cases"),
    [
        (association, [(ONE, TWO, TWO, TWO, RNG), (TWO, NAN, TWO, TWO, RNG), (NAN, TWO, TWO, TWO, RNG)]),
        (components, [(TWO,), (np.ones((1, 0)),), (np.stack([NAN, TWO]),)]),
        (holm, [(np.array([0.5, 1.1]),), (np.array([-0.1]),), (np.array([np.inf]),)]),
        (bootstrap, [(NAN, RNG)]),
        (variance, [(np.ones((1, 3)),)]),
        (paired, [(TWO, ONE, RNG), (NONE, NONE, RNG), (NAN, TWO, RNG), (np.ones((1, 1)), np.ones((1, 1)), RNG)]),
        (power_law, [(ONE, ONE), (np.ones(2), TWO), (TWO, np.zeros(2)), (TWO, NAN)]),
        (ratio, [(ONE, TWO), (NONE, NONE), (NAN, TWO), (TWO, NAN)]),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_a_function_is_not_for_is_refused(function, cases):
    """Arrays of different shapes, empty ones, numbers that are not finite, and what is no probability."""
    for arguments in cases:
        with pytest.raises(ValueError, match=f"{function.__name__} needs"):
            function(*arguments)
