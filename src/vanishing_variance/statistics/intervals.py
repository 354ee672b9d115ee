"""95% confidence intervals of a mean over seeds.

S seeds, n values.
"""

import numpy as np
from jaxtyping import Float, Real
from scipy import stats

from vanishing_variance.harness.numbers import estimate

CONFIDENCE = 0.95
# A number that cannot be computed.
NAN = float("nan")
# So many that another stream moves the ends by less than 2% of a standard deviation, with eight values.
RESAMPLES = 9_999


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


def bootstrap(values: Float[np.ndarray, " n"], rng: np.random.Generator) -> tuple[float, float] | None:
    """Return the 95% interval of the mean of values, by the bias-corrected and accelerated bootstrap (BCa), by scipy.

    It assumes no normal distribution, but few values are few: of two it is the values themselves, and of eight normal
    ones it holds the mean 88 times in 100, not 95 (of fifty, 94). None where there is one value, or all are equal:
    nothing to resample.

    Source: Efron (1987), Better bootstrap confidence intervals.
    """
    if np.ptp(values) <= rounding(values):
        return None
    result = stats.bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, confidence_level=CONFIDENCE, method="BCa", rng=rng
    )
    low, high = result.confidence_interval
    return float(low), float(high)
