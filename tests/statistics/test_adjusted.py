"""The difference at an equal covariate, against scipy's regression of each arm and lines that are known."""

import numpy as np
import pytest
from scipy import stats

from vanishing_variance.statistics.adjusted import adjusted


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
