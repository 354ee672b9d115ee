"""Holm's correction of several tests."""

import numpy as np
from jaxtyping import Float


def holm(p: Float[np.ndarray, " tests"]) -> Float[np.ndarray, " tests"]:
    """Return the p-values p adjusted by Holm's step-down method (1979): below alpha where the test is rejected.

    The probability of one false rejection or more is then at most alpha, however the tests depend on each other. A
    test that could not be made is NaN: it stays NaN, and does not count.
    """
    made = np.flatnonzero(~np.isnan(p))
    increasing = made[np.argsort(p[made])]
    adjusted = np.full(len(p), np.nan)
    remaining = np.arange(len(made), 0, -1)
    adjusted[increasing] = np.minimum(np.maximum.accumulate(remaining * p[increasing]), 1)
    return adjusted
