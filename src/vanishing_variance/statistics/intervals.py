"""95% intervals of a mean over seeds, by Student's t and anytime-valid: what has none is NaN, and – in tables.

S seeds.
"""

import numpy as np
from jaxtyping import Float, Real
from scipy import stats

from vanishing_variance.harness.numbers import estimate

CONFIDENCE = 0.95
# A number that cannot be computed.
NAN = float("nan")
# Of the prior N(0, g) of the effect size: 1 is the unit-information prior, which tells as much as one seed.
PRIOR_VARIANCE = 1.0


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


def anytime_interval(values: Float[np.ndarray, " S"]) -> tuple[float, float, float]:
    """Return the mean of values and its interval by the mixture t confidence sequence, in the units of the input.

    If the values are normal, the intervals after 1, 2, 3, … seeds all hold the true mean with probability 0.95 or more,
    whatever ends the study. With t = √S (mean - mu) / s and v = 1 + S g, the interval
    holds every mu whose Bayes factor, with the prior N(0, g) of the effect size (true mean - mu) / sigma, is below 20:

        v^(-1/2) ((1 + t² / (S - 1)) / (1 + t² / (v (S - 1))))^(S/2) < 1 / 0.05

    It is unbounded, and NaN, while seeds are too few: with g = 1 up to four.

    Source: Wang and Ramdas (2025), Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
    variance, the Gaussian mixture in the reduced filtration; after Lai (1976), On confidence sequences.
    """
    n = len(values)
    mean = float(values.mean())
    ratio = 1 + n * PRIOR_VARIANCE
    # (1 + t² / (S - 1)) / (1 + t² / (v (S - 1))) at the ends; it stays below v, however large t is.
    limit = (ratio / (1 - CONFIDENCE) ** 2) ** (1 / n)
    if limit >= ratio:
        return mean, NAN, NAN
    t = np.sqrt((n - 1) * (limit - 1) / (1 - limit / ratio))
    margin = float(t * values.std(ddof=1) / np.sqrt(n))
    return mean, mean - margin, mean + margin


def mean_estimate(values: Float[np.ndarray, " S"], how: str, unit: str = "") -> str:
    """Return the mean over seeds as text, in Python's format `how`, with its interval where there are two or more."""
    return estimate(how, *interval(values), unit=unit)
