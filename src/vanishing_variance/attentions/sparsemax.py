"""Sparsemax (Martins and Astudillo 2016), beyond the paper: the nearest point of the simplex, w_i = [z_i - tau]_+.

tau is such that the weights add up to 1. Items whose logits are 1 or more below the largest have the weight 0, and
their logits no gradient.
"""

from collections.abc import Mapping

import entmax
from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {}


def weights(logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S B N"]:
    """Return argmin ||w - z||^2 over the probability simplex, exactly, by sorting."""
    found: Tensor = entmax.sparsemax(logits, dim=-1)
    return found
