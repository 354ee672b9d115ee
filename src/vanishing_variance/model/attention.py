"""Attention of one query over items: softmax, its entropy, and the adaptive temperature of Veličković et al. (2024).

S seeds, B sequences, N items, D width.
"""

import torch
from torch import Tensor
from torch.nn.functional import gelu

from vanishing_variance.kernels import attend as compiled
from vanishing_variance.model.items import Items

# How many items are dense at a time where nothing is compiled: what fits a core's cache, or fills a GPU.
ITEMS_AT_ONCE = {"cpu": 2**12, "cuda": 2**20}

# beta = 1 / theta as a polynomial of the entropy in nats, highest power first; Veličković et al. 2024, Section 5.
POLYNOMIAL = (-0.037, 0.481, -2.3, 4.917, -1.791)
SHARPEN_ABOVE = 0.5


def attend(items: Items, direction: Tensor) -> tuple[Tensor, Tensor]:
    """With h the item MLP's hidden layer: the logits h . direction, (S, B, N), and softmax(logits) h, (S, B, D).

    `direction` is (S, B, D). Memory for h is bounded, whatever N is. Gradients flow through the average.
    """
    if compiled.usable(items, direction):
        return compiled.attend(items, direction)
    seeds, sequences, _ = direction.shape
    size = max(1, ITEMS_AT_ONCE[direction.device.type] // (seeds * sequences))
    logits, averages = zip(*(_attend(part, direction) for part in items.parts(size)), strict=True)
    share = torch.softmax(torch.stack([of_part.logsumexp(-1) for of_part in logits]), dim=0)
    return torch.cat(logits, dim=-1), (share.unsqueeze(-1) * torch.stack(averages)).sum(0)


def _attend(items: Items, direction: Tensor) -> tuple[Tensor, Tensor]:
    hidden = gelu(items.dense())
    logits = torch.linalg.vecdot(hidden, direction.unsqueeze(2))
    return logits, (torch.softmax(logits, dim=-1).unsqueeze(-2) @ hidden).squeeze(-2)


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
