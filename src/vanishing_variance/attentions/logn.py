"""Softmax of the logits times log N (Chiang and Cholak 2022), beyond the paper: w = softmax(z log N).

As published: log n itself, not log n over its value at the training lengths. A constant factor is absorbed by W_Q and
W_K, so that only the initial sharpness and the effective learning rate depend on it. At N = 1 the factor is 0, which
does not matter: the only item has the weight 1 in any case.
"""

import math
from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {}


def scale(items: int, parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S 1 1"] | float:
    """Return the logits' factor log N, N = `items`."""
    return math.log(items)
