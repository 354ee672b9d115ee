"""The variance of a sample, and how well it is known.

n observations, D width.
"""

import numpy as np
from jaxtyping import Float


def variance(values: Float[np.ndarray, "n D"]) -> tuple[Float[np.ndarray, " D"], Float[np.ndarray, " D"]]:
    """Return the unbiased variance of values over their first axis, and its standard error by the fourth moment.

    Var(s^2) = (m_4 - s^4 (n - 3) / (n - 1)) / n for independent rows of any distribution.
    """
    n = len(values)
    estimate = values.var(axis=0, ddof=1)
    deviations = values - values.mean(axis=0)
    fourth = (deviations**4).mean(axis=0)
    squared_error = (fourth - estimate**2 * (n - 3) / (n - 1)) / n
    return estimate, np.sqrt(squared_error)
