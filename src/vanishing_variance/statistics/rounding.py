"""What differs in its last bits only is equal: accuracies are ratios of counts, and their differences are rounded."""

import numpy as np
from jaxtyping import Real


def rounding(*values: Real[np.ndarray, "..."]) -> float:
    """How far apart two numbers of the size of `values` may be, and still be equal: 1e-12 of the largest of them."""
    return 1e-12 * max(float(np.abs(array).max()) for array in values)
