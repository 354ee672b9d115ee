"""Scalable-Softmax (Nakanishi 2025), beyond the paper: w = softmax(s z log N), s learned.

The published form, not its variant with a bias, s log N + b; one s, as there is one layer with one head. The initial
value is that of the publication's Figure 1, s = 0.43. With it training begins about where a softmax's does: over the
training lengths 5 to 16 the mean of s log N is 0.99. At N = 1 the factor is 0, which does not matter: the only item has
the weight 1.
"""

import math
from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {"scale": 0.43}


def scale(items: int, parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S 1 1"] | float:
    """Return the logits' factor s log N, N = `items`, s = `scale`."""
    return parameters["scale"] * math.log(items)
