"""Entmax with a learned alpha (Correia et al. 2019), beyond the paper: from softmax (alpha = 1) to sparsemax (2).

w_i = [(alpha - 1) z_i - tau]_+^(1 / (alpha - 1)), tau such that the weights add up to 1, alpha = 1 + sigmoid(a). One
alpha, as there is one layer with one head. a = 0 initially, so alpha = 1.5; the authors' code draws a from N(0, 1).
alpha is at least 1.01, as in their code: close to 1 the exponent overflows. Where this bound holds, a has no gradient.
"""

import math
from collections.abc import Mapping

import entmax
import torch
from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {"alpha_logit": 0.0}
SMALLEST = 0.01  # of alpha - 1


def weights(logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S B N"]:
    """Return the alpha-entmax of the logits, by bisection; a = `alpha_logit`."""
    alpha = 1 + torch.sigmoid(parameters["alpha_logit"]).clamp_min(SMALLEST)
    # Weights do not depend on an offset of the logits, but the bisection does not take it off: at 10,000 they were off
    # by up to 3%.
    centred = logits - logits.detach().amax(-1, keepdim=True)
    # tau is sought in an interval of length 1, and may be as close to its upper end as 1 / N.
    halvings = math.ceil(math.log2(logits.shape[-1] / torch.finfo(logits.dtype).eps))
    found: Tensor = entmax.entmax_bisect(centred, alpha, dim=-1, n_iter=halvings)
    return found
