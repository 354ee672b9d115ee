"""Adaptive-scalable entmax (Vasylenko et al. 2025), beyond the paper: w = 1.5-entmax((delta + beta (log N)^gamma) z).

delta = 1 and alpha = 1.5, as in the authors' code. Published, beta = softplus(.) and gamma = 2 tanh(.) are functions of
the query, a pair a head. Here they are two learned scalars, one head, which the authors' code also has ("learn"): it
draws beta from U(0.1, 1) and gamma from N(0, 0.1^2); ours begin at the means, 0.55 and 0. The logarithm is that of
N + 1, as in their code: log N is 0 at N = 1, where gamma < 0 would divide by it.
"""

import math
from collections.abc import Mapping

import entmax
import torch
from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {"beta": 0.55, "gamma": 0.0}
DELTA = 1.0


def weights(logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S B N"]:
    """Return the 1.5-entmax of the scaled logits, exactly, by sorting; computed in float64, as in `entmax15`."""
    scale = DELTA + parameters["beta"] * torch.pow(math.log(logits.shape[-1] + 1), parameters["gamma"])
    found: Tensor = entmax.entmax15(logits.double() * scale, dim=-1)
    return found.to(logits.dtype)
