"""The difference of two arms at an equal covariate (analysis of covariance).

S and T seeds.
"""

import numpy as np
from jaxtyping import Float
from scipy import stats

from vanishing_variance.statistics.intervals import CONFIDENCE, NAN, rounding


def adjusted(
    treatment: Float[np.ndarray, " S"],
    baseline: Float[np.ndarray, " T"],
    covariate_treatment: Float[np.ndarray, " S"],
    covariate_baseline: Float[np.ndarray, " T"],
) -> tuple[float, float, float]:
    """Return the mean of treatment minus baseline at an equal covariate, and its 95% t interval.

    A line an arm is fitted by least squares, with the same slope in both arms; the difference is that of the lines, in
    the units of the outcome. Residuals have S + T - 3 degrees of freedom; fewer than 1, or a covariate that does not
    vary within the arms, leave NaN. Arms are independent: seeds need not be paired.

    It describes: a covariate that was measured after the treatment is itself an effect of it. Source: Cochran (1957),
    Analysis of covariance: its nature and uses.
    """
    outcomes = (treatment, baseline)
    covariates = (covariate_treatment, covariate_baseline)
    y = np.concatenate([values - values.mean() for values in outcomes])
    x = np.concatenate([values - values.mean() for values in covariates])
    freedom = len(y) - 3
    if freedom < 1 or np.abs(x).max() <= rounding(*covariates):
        return NAN, NAN, NAN
    slope = (x @ y) / (x @ x)
    gap = covariate_treatment.mean() - covariate_baseline.mean()
    mean = float(treatment.mean() - baseline.mean() - slope * gap)
    residuals = y - slope * x
    variance = (residuals @ residuals) / freedom
    error = np.sqrt(variance * (1 / len(treatment) + 1 / len(baseline) + gap**2 / (x @ x)))
    margin = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * error)
    return mean, mean - margin, mean + margin
