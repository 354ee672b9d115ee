"""Tolerance for rounding: accuracies are ratios of counts, and what differs in its last bits only is equal."""

import numpy as np
from jaxtyping import Real


def rounding(*values: Real[np.ndarray, "..."]) -> float:
    """Return the difference below which numbers of the size of `values` count as equal: 1e-12 of the largest."""
    return 1e-12 * max(float(np.abs(array).max()) for array in values)
