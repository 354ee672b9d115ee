"""95% confidence intervals of a mean over seeds.

S seeds.
"""

import numpy as np
from jaxtyping import Float, Real
from scipy import stats

from vanishing_variance.harness.numbers import estimate

CONFIDENCE = 0.95
# A number that cannot be computed.
NAN = float("nan")


def rounding(*values: Real[np.ndarray, "..."]) -> float:
    """Return the difference below which numbers of the size of `values` count as equal: 1e-12 of the largest.

    Accuracies are ratios of counts, and what differs in its last bits only is equal.
    """
    return 1e-12 * max(float(np.abs(array).max()) for array in values)


def interval(values: Float[np.ndarray, " S"]) -> tuple[float, float, float]:
    """Return the mean of values and its 95% t interval; with one seed the interval is the value itself."""
    n = len(values)
    mean = float(values.mean())
    if n == 1:
        return mean, mean, mean
    t = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1))
    margin = t * float(values.std(ddof=1)) / n**0.5
    return mean, mean - margin, mean + margin


def mean_estimate(values: Float[np.ndarray, " S"], how: str, unit: str = "") -> str:
    """Return the mean over seeds as text, in Python's format `how`, with its interval where there are two or more."""
    mean, low, high = interval(values)
    if len(values) == 1:
        return estimate(how, mean, unit=unit)
    return estimate(how, mean, low, high, unit=unit)
