"""The difference of two arms at an equal covariate (analysis of covariance).

S and T seeds.
"""

import numpy as np
from jaxtyping import Float
from statsmodels.regression.linear_model import OLS

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
    outcome = np.concatenate([treatment, baseline])
    covariate = np.concatenate([covariate_treatment, covariate_baseline])
    arm = np.repeat([1.0, 0.0], [len(treatment), len(baseline)])
    variation = max(np.ptp(covariate_treatment), np.ptp(covariate_baseline))
    if len(outcome) < 4 or variation <= rounding(covariate):
        return NAN, NAN, NAN
    fit = OLS(outcome, np.column_stack([arm, covariate, np.ones_like(outcome)])).fit()
    low, high = fit.conf_int(1 - CONFIDENCE)[0]
    return float(fit.params[0]), float(low), float(high)
