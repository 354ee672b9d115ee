"""Normalised attention (Richter and Wattenhofer 2020), beyond the paper: standardised logits instead of a softmax.

w_i = g (z_i - mu) / (sigma + epsilon) + b, mu and the biased sigma over the N items of a sequence; gain g = 1 and bias
b = 0 initially, epsilon = 0.001, as in the authors' code. One g and one b, as there is one head. The authors do not
divide the logits by sqrt(D), which changes no more than what epsilon amounts to. Weights may be negative and add up to
N b. They are not divided by N: the authors normalise the context over its features afterwards.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor
from torch.linalg import vector_norm

LEARNABLE: Mapping[str, float] = {"gain": 1.0, "bias": 0.0}
EPSILON = 1e-3


def weights(logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S B N"]:
    """Return g (z - mu) / (sigma + epsilon) + b, with mu and sigma over the items; b where all logits are equal."""
    # The mean of equal large logits may be off by a rounding error as large as epsilon, which gives 0.5 instead of 0.
    logits = logits - logits.detach()[..., :1]
    centred = logits - logits.mean(-1, keepdim=True)
    # vector_norm has a gradient where it is 0, sqrt(mean(square)) has none.
    sigma: Tensor = vector_norm(centred, dim=-1, keepdim=True) / logits.shape[-1] ** 0.5
    return torch.addcmul(parameters["bias"], centred, parameters["gain"] / (sigma + EPSILON))
