"""The ratio of two means over seeds, paired, with its interval by Fieller's theorem.

S seeds.
"""

import numpy as np
from jaxtyping import Float
from scipy import stats

from vanishing_variance.statistics.adjusted import Estimate
from vanishing_variance.statistics.intervals import CONFIDENCE, NAN, interval


def ratio(numerator: Float[np.ndarray, " S"], denominator: Float[np.ndarray, " S"]) -> Estimate:
    """Return the ratio of the means of paired values, in the same order of seeds.

    Fieller's interval holds every ratio q for which the mean of numerator - q denominator is not significantly 0
    (two-sided t-test, 5%). It is bounded only where the denominator's own 95% t interval is on one side of 0: elsewhere
    there is no ratio, but NaN. One seed has a ratio, but no interval.

    Source: Fieller (1954), Some problems in interval estimation.
    """
    below, low, high = interval(denominator)
    if below == 0 or low <= 0 <= high:
        return NAN, NAN, NAN
    above = float(numerator.mean())
    n = len(numerator)
    if n == 1:
        return above / below, NAN, NAN
    t = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1))
    covariance = t**2 / n * np.cov(numerator, denominator)
    # The ends are the roots of a q^2 - 2 b q + c.
    a = below**2 - covariance[1, 1]
    b = above * below - covariance[0, 1]
    c = above**2 - covariance[0, 0]
    root = np.sqrt(max(b**2 - a * c, 0.0))
    return above / below, float((b - root) / a), float((b + root) / a)
