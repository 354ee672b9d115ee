"""Sigmoid attention (Ramapuram et al. 2024), beyond the paper: w_i = sigmoid(z_i - log N), each item for itself.

The bias -log N is the publication's initial one, with which the weights of N logits of 0 add up to about 1. Here it is
not learned and follows the number of items, in tests too. The weights need not add up to 1: they do not compete.
"""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {}


def weights(logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S B N"]:
    """Return sigmoid(z - log N); the weights lie between 0 and 1."""
    return torch.sigmoid(logits - math.log(logits.shape[-1]))
