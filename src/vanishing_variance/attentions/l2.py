"""Weights of length 1, beyond the paper ("Attention Normalizes the Wrong Norm", 2025): a softmax over its l2 norm.

w = softmax(z) / |softmax(z)|: where values are independent the variance of O does not shrink as N grows. The weights
add up to between 1 and sqrt(N). A normaliser that does not see the scale of O makes of it what it makes of a softmax,
but for epsilon.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

LEARNABLE: Mapping[str, float] = {}


def weights(logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S B N"]:
    """Return the softmax of the logits, scaled so that the sum of its squares is 1."""
    return normalize(torch.softmax(logits, dim=-1), dim=-1)
