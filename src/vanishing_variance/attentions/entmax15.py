"""1.5-entmax (Peters et al. 2019), beyond the paper: w_i = [z_i / 2 - tau]_+^2, tau such that the weights add up to 1.

Between softmax (alpha = 1) and sparsemax (alpha = 2). Items whose logits are 2 or more below the largest have the
weight 0, and their logits no gradient.
"""

from collections.abc import Mapping

import entmax
from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {}


def weights(logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S B N"]:
    """Return the 1.5-entmax of the logits, exactly, by sorting; computed in float64."""
    # The threshold comes from N (mean of squares - square of mean): in float32 the weights' sum is off by up to 1e-3 at
    # 16,384 items.
    found: Tensor = entmax.entmax15(logits.double(), dim=-1)
    return found.to(logits.dtype)
