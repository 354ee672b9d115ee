"""The attention map: softmax, its entropy, and the adaptive temperature of Veličković et al. (2024)."""

import torch
from torch import Tensor

# beta = 1 / theta as a polynomial of the entropy in nats, highest power first; Veličković et al. 2024, Section 5.
POLYNOMIAL = (-0.037, 0.481, -2.3, 4.917, -1.791)
SHARPEN_ABOVE = 0.5


def entropy(logits: Tensor) -> Tensor:
    """The entropy of softmax(logits) over the last axis, in nats: (..., N) to (...)."""
    log_weights = torch.log_softmax(logits, dim=-1)
    return -(log_weights.exp() * log_weights).sum(-1)


def adaptive_beta(entropy: Tensor) -> Tensor:
    """What the logits are multiplied by at test time: max(1, polynomial(H)) where H > 0.5 nats, elsewhere 1.

    There is no upper clamp. The polynomial peaks at 2.42 near 4.4 nats; above 5.94 nats it is below 1.
    """
    beta = torch.zeros_like(entropy)
    for coefficient in POLYNOMIAL:
        beta = beta * entropy + coefficient
    return torch.where(entropy > SHARPEN_ABOVE, beta.clamp(min=1.0), torch.ones_like(beta))
