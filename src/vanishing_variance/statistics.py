"""Paired comparisons over seeds, intervals, power laws: pure functions of arrays."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Comparison:
    """A treatment against a baseline, paired by seed. What cannot be computed is None, and `note` says why.

    `difference` is the mean of treatment - baseline, in the units of the input, with its t interval `low`, `high`;
    `effect` is Cohen's d_z, the mean difference over the standard deviation of the differences; `p` is two-sided.
    """

    n: int
    difference: float
    low: float | None
    high: float | None
    effect: float | None
    p: float | None
    note: str = ""


def paired(treatment: np.ndarray, baseline: np.ndarray) -> Comparison:
    """The paper's paired t-test (Section 3.1), by scipy, of two arrays (seeds,) in the same order of seeds.

    Raises ValueError when the arrays differ in shape, are empty or hold numbers that are not finite.
    """
    if treatment.shape != baseline.shape or treatment.ndim != 1 or not treatment.size:
        raise ValueError(f"paired needs two arrays of the same seeds, not {treatment.shape} and {baseline.shape}")
    differences = treatment - baseline
    if not np.isfinite(differences).all():
        raise ValueError("paired needs finite numbers")
    n, mean = len(differences), float(differences.mean())
    if n == 1:
        return Comparison(n, mean, None, None, None, None, "one seed: no test")
    deviation = float(differences.std(ddof=1))
    if deviation <= 1e-12 * max(1.0, float(np.abs(treatment).max())):
        return Comparison(n, mean, mean, mean, None, None, "all differences equal: no test")
    margin = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * deviation / n**0.5
    p = float(stats.ttest_rel(treatment, baseline).pvalue)
    return Comparison(n, mean, mean - margin, mean + margin, mean / deviation, p)


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """The mean of values (seeds,) and its 95% t interval; with one seed the interval is the value itself."""
    mean = float(values.mean())
    if len(values) == 1:
        return mean, mean, mean
    margin = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * float(values.std(ddof=1)) / len(values) ** 0.5
    return mean, mean - margin, mean + margin


@dataclass(frozen=True)
class PowerLaw:
    """values = scale * lengths^exponent, with the 95% t interval of the exponent (None where two points leave none)."""

    exponent: float
    low: float | None
    high: float | None
    scale: float

    def __call__(self, lengths: np.ndarray) -> np.ndarray:
        """The fitted values at `lengths`."""
        return np.asarray(self.scale * np.asarray(lengths, dtype=float) ** self.exponent)


def power_law(lengths: np.ndarray, values: np.ndarray) -> PowerLaw:
    """The least-squares line through (log lengths, log values), each (L,), by scipy.

    Raises ValueError when there are fewer than two lengths, or a value that is not positive and finite.
    """
    values = np.asarray(values, dtype=float)
    if len(set(lengths)) < 2 or len(lengths) != len(values):
        raise ValueError(f"power_law needs a value at each of two lengths or more, not {values.shape} at {lengths}")
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError("power_law needs positive finite values")
    line = stats.linregress(np.log(lengths), np.log(values))
    slope, scale = float(line.slope), float(np.exp(line.intercept))
    if len(values) == 2:
        return PowerLaw(slope, None, None, scale)
    margin = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 2)) * float(line.stderr)
    return PowerLaw(slope, slope - margin, slope + margin, scale)


def variance(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The unbiased variance of values (n, D) over their first axis, (D,), and its standard error by the fourth moment.

    Var(s^2) = (m_4 - s^4 (n - 3) / (n - 1)) / n for independent rows of any distribution. Raises ValueError for n < 2.
    """
    n = len(values)
    if n < 2:
        raise ValueError(f"variance needs two values or more, not {n}")
    estimate = values.var(axis=0, ddof=1)
    fourth = ((values - values.mean(axis=0)) ** 4).mean(axis=0)
    return estimate, np.sqrt((fourth - estimate**2 * (n - 3) / (n - 1)) / n)
