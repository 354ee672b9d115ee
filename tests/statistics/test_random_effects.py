import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from vanishing_variance.statistics.random_effects import random_effects


@pytest.mark.filterwarnings("ignore:`use_t=True` requires:statsmodels.tools.sm_exceptions.InvalidTestWarning")
@pytest.mark.parametrize("tau", [0, 1, 5])
def test_mean_tau_and_interval_are_those_of_statsmodels(tau):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        variances = rng.uniform(0.1, 4, 20)
        effects = rng.normal(2, np.sqrt(tau**2 + variances))
        found = random_effects(effects, variances)
        combined = combine_effects(effects, variances, method_re="pm", use_t=True)
        reference = combined.summary_frame().loc["random effect"]
        assert (found.mean, found.low, found.high) == pytest.approx(
            (reference["eff"], reference["ci_low"], reference["ci_upp"]), rel=1e-5
        )
        assert found.tau**2 == pytest.approx(combined.tau2, rel=1e-5)
        error = (found.high - found.mean) / stats.t.ppf(0.975, 19)
        half = stats.t.ppf(0.975, 18) * (combined.tau2 + error**2) ** 0.5
        assert (found.another_low, found.another_high) == pytest.approx(
            (found.mean - half, found.mean + half), rel=1e-5
        )


def test_effects_that_differ_less_than_their_errors_have_no_tau():
    found = random_effects(np.array([1.0, 1.1, 0.9, 1.0]), np.full(4, 1.0))
    assert found.tau == 0
    assert (found.low, found.high) == pytest.approx((1 - 3.182446 / 2, 1 + 3.182446 / 2))
    assert (found.another_low, found.another_high) == pytest.approx((1 - 4.302653 / 2, 1 + 4.302653 / 2))
