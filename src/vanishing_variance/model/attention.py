"""Attention of one query over items.

S seeds, B sequences, N items, D width.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.model.items import Items
from vanishing_variance.model.kernels import attend as compiled

# How many items are dense at a time where nothing is compiled: what fits a core's cache, or fills a GPU.
ITEMS_AT_ONCE = {"cpu": 2**12, "cuda": 2**20}


def attend(items: Items, folded_query: Float[Tensor, "S B D"]) -> tuple[Float[Tensor, "S B N"], Float[Tensor, "S B D"]]:
    """Return the logits h . folded_query and the context softmax(logits) h, with h the item MLP's hidden layer.

    Memory for h is bounded, whatever N is. Gradients flow through the context.
    """
    if compiled.usable(folded_query, items):
        return compiled.attend(items, folded_query)
    seeds, sequences, _ = folded_query.shape
    size = max(1, ITEMS_AT_ONCE[folded_query.device.type] // (seeds * sequences))
    logits, contexts = zip(*(_attend(part, folded_query) for part in items.parts(size)), strict=True)
    share = torch.softmax(torch.stack([of_part.logsumexp(-1) for of_part in logits]), dim=0)
    return torch.cat(logits, dim=-1), (share.unsqueeze(-1) * torch.stack(contexts)).sum(0)


def _attend(
    items: Items, folded_query: Float[Tensor, "S B D"]
) -> tuple[Float[Tensor, "S B N"], Float[Tensor, "S B D"]]:
    hidden = items.hidden()
    logits = torch.linalg.vecdot(hidden, folded_query.unsqueeze(2))
    return logits, (torch.softmax(logits, dim=-1).unsqueeze(-2) @ hidden).squeeze(-2)
