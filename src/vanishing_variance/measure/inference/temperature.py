"""The adaptive temperature of Veličković et al. (2024): logits times beta = 1 / theta, a function of their entropy.

N items.
"""

import torch
from jaxtyping import Float
from torch import Tensor

SHARPEN_ABOVE = 0.5
# beta as a polynomial of the entropy in nats, highest power first (Section 5 of Veličković et al.). There is no upper
# clamp; it peaks at 2.42 near 4.4 nats, and is below 1 above 5.94.
POLYNOMIAL = (-0.037, 0.481, -2.3, 4.917, -1.791)


def adaptive_beta(entropy: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """Return the factor of the logits at test time: max(1, polynomial(H)) where H > 0.5 nats, elsewhere 1."""
    beta = torch.zeros_like(entropy)
    for coefficient in POLYNOMIAL:
        beta = beta * entropy + coefficient
    return torch.where(entropy > SHARPEN_ABOVE, beta.clamp(min=1.0), 1.0)


def entropy(logits: Float[Tensor, "*any N"]) -> Float[Tensor, "*any"]:
    """Return the entropy of softmax(logits) over the items, in nats."""
    log_weights = torch.log_softmax(logits, dim=-1)
    weights = log_weights.exp()
    return -(weights * log_weights.masked_fill(weights == 0, 0)).sum(-1)  # of an item that is masked with -inf, 0
