"""Differential attention (Ye et al. 2024), beyond the paper: w = softmax(z_1) - lambda softmax(z_2), lambda learned.

Two queries, each on one half of the width D: z_i = k_i . q_i / sqrt(D / 2), so that no weight is added to W_Q and W_K.
The publication learns lambda as exp(a . b) - exp(c . d) + 0.2 in its first layer, with four vectors that begin near 0;
here it is one number, which begins at 0.2. Its normalisation of each head over the features, and the factor 0.8 after
that, are left to `norm`. Weights may be negative, and add up to 1 - lambda.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {"lambda": 0.2}
QUERIES = 2


def weights(
    logits: Float[Tensor, "S 2 B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]
) -> Float[Tensor, "S B N"]:
    """Return softmax(z_1) - lambda softmax(z_2) of the logits of both queries."""
    first, second = torch.softmax(logits, dim=-1).unbind(1)
    return first - parameters["lambda"] * second
