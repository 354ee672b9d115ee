"""The mean of an effect over studies that differ, and how much they differ: a random-effects meta-analysis.

K studies.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import optimize, stats

from vanishing_variance.statistics.intervals import CONFIDENCE


@dataclass(frozen=True)
class RandomEffects:
    """The mean effect with its 95% interval, in the units of the effects.

    `tau` is the standard deviation of the true effects over studies; `another_low` and `another_high` are the 95%
    prediction interval, of the true effect of another such study.
    """

    mean: float
    low: float
    high: float
    tau: float
    another_low: float
    another_high: float


def random_effects(effects: Float[np.ndarray, " K"], variances: Float[np.ndarray, " K"]) -> RandomEffects:
    """Return the random-effects mean of three or more independent effects with the squares of their standard errors.

    tau is Paule and Mandel's: the weighted sum of squares about the mean is then K - 1, its expectation, so that the
    interval by t with K - 1 degrees of freedom is also Hartung and Knapp's. The prediction interval has K - 2. The
    variances, all above 0, are taken for known: estimates from four seeds each will do where tau is not small.

    Source: Paule and Mandel (1982), Consensus values and weighting factors; Higgins, Thompson and Spiegelhalter (2009),
    A re-evaluation of random-effects meta-analysis.
    """
    k = len(effects)

    def excess(tau_squared: float) -> float:
        weights = 1 / (variances + tau_squared)
        mean = np.average(effects, weights=weights)
        return float((weights * (effects - mean) ** 2).sum()) - (k - 1)

    tau_squared = 0.0
    if excess(0) > 0:
        # Were all variances 0, it would be the effects' own variance, so it is no larger.
        tau_squared = optimize.brentq(excess, 0, effects.var(ddof=1))
    weights = 1 / (variances + tau_squared)
    mean = float(np.average(effects, weights=weights))
    squared_error = 1 / weights.sum()
    tail = (1 - CONFIDENCE) / 2
    margin = float(stats.t.isf(tail, k - 1) * np.sqrt(squared_error))
    another = float(stats.t.isf(tail, k - 2) * np.sqrt(tau_squared + squared_error))
    return RandomEffects(mean, mean - margin, mean + margin, tau_squared**0.5, mean - another, mean + another)
