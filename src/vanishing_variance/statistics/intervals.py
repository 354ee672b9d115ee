"""95% confidence intervals of a mean over seeds: what has none is NaN, and – in tables.

S seeds.
"""

import numpy as np
from jaxtyping import Float, Real
from scipy import stats

from vanishing_variance.harness.numbers import estimate

CONFIDENCE = 0.95
# Resamples of fewer seeds are so few that their quantiles say nothing.
FEWEST = 5
# A number that cannot be computed.
NAN = float("nan")


def rounding(*values: Real[np.ndarray, "..."]) -> float:
    """Return the difference below which numbers of the size of `values` count as equal: 1e-12 of the largest.

    Accuracies are ratios of counts, and what differs in its last bits only is equal.
    """
    return 1e-12 * max(float(np.abs(array).max()) for array in values)


def interval(values: Float[np.ndarray, " S"]) -> tuple[float, float, float]:
    """Return the mean of values and its 95% t interval: NaN with one seed, and without any the mean, too."""
    n = len(values)
    mean = float(values.mean()) if n else NAN
    if n < 2:
        return mean, NAN, NAN
    t = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1))
    margin = t * float(values.std(ddof=1)) / n**0.5
    return mean, mean - margin, mean + margin


def mean_estimate(values: Float[np.ndarray, " S"], how: str, unit: str = "") -> str:
    """Return the mean over seeds as text, in Python's format `how`, with its interval where there are two or more."""
    return estimate(how, *interval(values), unit=unit)
