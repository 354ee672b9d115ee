"""Holm's correction of several tests.

Scipy has none; statsmodels' counts tests that are NaN, and collects garbage at each call (0.05 s or more).
"""

import numpy as np
from jaxtyping import Float


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
