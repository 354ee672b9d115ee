"""The ratio of two means over seeds, paired, with its interval by Fieller's theorem.

S seeds.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from vanishing_variance.harness.numbers import estimate
from vanishing_variance.statistics.intervals import CONFIDENCE, NAN, interval


@dataclass(frozen=True)
class Ratio:
    """Mean numerator over mean denominator with its 95% interval; NaN where `note` says why there is none."""

    value: float
    low: float = NAN
    high: float = NAN
    note: str = ""


def ratio(numerator: Float[np.ndarray, " S"], denominator: Float[np.ndarray, " S"]) -> Ratio:
    """Return the ratio of the means of paired values, in the same order of seeds.

    Fieller's interval holds every ratio q for which the mean of numerator - q denominator is not significantly 0
    (two-sided t-test, 5%). It is bounded only where the denominator's own 95% t interval is on one side of 0: elsewhere
    there is no ratio, and a note. One seed has a ratio, but no interval.

    Source: Fieller (1954), Some problems in interval estimation.
    """
    below, low, high = interval(denominator)
    if below == 0 or low <= 0 <= high:
        return Ratio(NAN, note=f"denominator {estimate('.3g', below, low, high)} may be 0: no ratio")
    above = float(numerator.mean())
    n = len(numerator)
    if n == 1:
        return Ratio(above / below, note="one seed: no interval")
    t = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1))
    covariance = t**2 / n * np.cov(numerator, denominator)
    # The ends are the roots of a q^2 - 2 b q + c.
    a = below**2 - covariance[1, 1]
    b = above * below - covariance[0, 1]
    c = above**2 - covariance[0, 0]
    root = np.sqrt(max(b**2 - a * c, 0.0))
    return Ratio(above / below, float((b - root) / a), float((b + root) / a))
