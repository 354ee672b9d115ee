"""The variance of a sample, and how well it is known."""

import numpy as np


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
