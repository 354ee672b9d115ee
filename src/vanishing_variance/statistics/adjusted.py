"""The difference of two arms at an equal covariate, with a regression line of its own for each arm.

S and T models.
"""

import math

import numpy as np
from jaxtyping import Float
from scipy import stats
from statsmodels.regression.linear_model import OLS

from vanishing_variance.statistics.intervals import CONFIDENCE, NAN, rounding

# A number and its interval.
Estimate = tuple[float, float, float]
Arm = tuple[np.ndarray, np.ndarray]  # outcome, covariate
FEWEST = 3  # models an arm: a line, and what is left of it


def adjusted(
    treatment: Float[np.ndarray, " S"],
    baseline: Float[np.ndarray, " T"],
    covariate_treatment: Float[np.ndarray, " S"],
    covariate_baseline: Float[np.ndarray, " T"],
) -> tuple[Estimate, Estimate]:
    """Return treatment minus baseline at the baseline's mean covariate and at the treatment's, with 95% intervals.

    A line an arm is fitted by least squares, and the lines are compared at each mean, taken as known. Intervals are
    Welch's: variances differ between the arms, which are independent, so that seeds need not be paired. An arm of fewer
    than 3 models, a covariate that does not vary in one of them, and lines that leave no residual, give NaN.

    It describes: the covariate may be an effect of the treatment, and where the arms' values do not overlap, lines are
    extrapolated. Source: Johnson and
    Neyman (1936), Tests of certain linear hypotheses and their application to some educational problems.
    """
    arms = ((treatment, covariate_treatment), (baseline, covariate_baseline))
    ends = (float(covariate_baseline.mean()), float(covariate_treatment.mean()))
    return _at(ends[0], *arms), _at(ends[1], *arms)


def _at(value: float, *arms: Arm) -> Estimate:
    """Return the difference of the two lines at a value of the covariate."""
    least = rounding(*(covariate for _, covariate in arms))
    if any(len(covariate) < FEWEST or np.ptp(covariate) <= least for _, covariate in arms):
        return NAN, NAN, NAN
    fits = []
    for outcome, covariate in arms:
        line = np.column_stack([np.ones_like(outcome), covariate - value])
        fits.append(OLS(outcome, line).fit())
    difference = float(fits[0].params[0] - fits[1].params[0])
    errors = [float(fit.bse[0]) for fit in fits]
    if max(errors) <= rounding(*(outcome for outcome, _ in arms)):
        return NAN, NAN, NAN
    error = math.hypot(*errors)
    freedom = error**4 / sum(own**4 / fit.df_resid for own, fit in zip(errors, fits, strict=True))
    margin = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * error
    return difference, difference - margin, difference + margin
