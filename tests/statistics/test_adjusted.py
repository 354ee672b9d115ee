import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from vanishing_variance.statistics.adjusted import adjusted


def test_it_is_statsmodels_least_squares_with_an_arm_and_a_covariate():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(3, 1, 9), rng.normal(2, 2, 6)
    frame = pd.DataFrame({"x": np.concatenate([ours, theirs]), "arm": np.repeat([1, 0], [9, 6])})
    frame["y"] = 5 + 4 * frame["arm"] - 2 * frame["x"] + rng.normal(0, 1, 15)
    treated = frame["arm"] == 1
    found = adjusted(frame["y"][treated].to_numpy(), frame["y"][~treated].to_numpy(), ours, theirs)
    fit = ols("y ~ arm + x", frame).fit()
    assert found == pytest.approx([fit.params["arm"], *fit.conf_int().loc["arm"]])


def test_a_covariate_that_does_not_vary_and_too_few_seeds_leave_nothing():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4))
    assert np.isnan(adjusted(a, b, np.full(4, 0.1), np.full(4, 0.2))).all()
    assert np.isnan(adjusted(a[:2], b[:1], a[:2], b[:1])).all()
