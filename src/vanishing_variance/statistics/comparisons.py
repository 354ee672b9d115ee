"""The paper's t-test of two arms, paired by seed, and Holm's correction of several tests.

Scipy has no Holm, and statsmodels' counts tests that are NaN, and collects garbage at each call (0.05 s or more).

S seeds.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from vanishing_variance.statistics.intervals import NAN, interval, rounding


@dataclass(frozen=True)
class Difference:
    """The mean of the differences over n seeds, its 95% t interval, Cohen's d_z and the p of the paired t-test.

    d_z is the mean difference over the standard deviation of the differences; the test is two-sided. What cannot be
    computed is NaN: all of it without a seed, all but the mean with one.
    """

    n: int = 0
    mean: float = NAN
    low: float = NAN
    high: float = NAN
    d_z: float = NAN
    p: float = NAN


def difference(ours: Float[np.ndarray, " S"], theirs: Float[np.ndarray, " S"]) -> Difference:
    """Return ours minus theirs, paired by seed: the paper's t-test (Section 3.1), by scipy.

    Differences that are equal in every seed, but for rounding, have no d_z: where they are 0, p is 1, and the interval
    0 alone; others have neither, for nothing says how far from them a further seed would be.
    """
    n = len(ours)
    differences = ours - theirs
    mean, low, high = interval(differences)
    if n < 2:
        return Difference(n, mean)
    smallest = rounding(ours, theirs)
    deviation = float(differences.std(ddof=1))
    if deviation <= smallest:
        return Difference(n, mean, mean, mean, p=1.0) if abs(mean) <= smallest else Difference(n, mean)
    p = float(stats.ttest_rel(ours, theirs).pvalue)
    return Difference(n, mean, low, high, mean / deviation, p)


def holm(p: Float[np.ndarray, " tests"]) -> Float[np.ndarray, " tests"]:
    """Return the p-values p adjusted by Holm's step-down method (1979): below alpha where the test is rejected.

    The probability of one false rejection or more is then at most alpha, however the tests depend on each other. A
    test that could not be made is NaN: it stays NaN, and does not count.
    """
    made = np.count_nonzero(~np.isnan(p))
    increasing = np.argsort(p)[:made]  # NaN is last
    remaining = np.arange(made, 0, -1)
    steps = np.maximum.accumulate(remaining * p[increasing])
    adjusted = np.full(len(p), np.nan)
    adjusted[increasing] = np.minimum(steps, 1)
    return adjusted
