"""Attention of one query over items.

S seeds, B sequences, N items, D width.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.items import Items
from vanishing_variance.engine.kernels import attend as compiled

# How many items are dense at a time where nothing is compiled: what fits a core's cache, or fills a GPU.
ITEMS_AT_ONCE = {"cpu": 2**12, "cuda": 2**20}


def attend(items: Items, folded_query: Float[Tensor, "S B D"]) -> tuple[Float[Tensor, "S B N"], Float[Tensor, "S B D"]]:
    """Return the logits h . folded_query and the context softmax(logits) h, with h the item MLP's hidden layer.

    Memory for h is bounded, whatever N is. Gradients flow through the context. Keys that are divided by their norms are
    not folded into the query: for them `products` and `weighted_sum`.
    """
    assert items.key_norm is None, "keys that are divided by their norms are not folded into the query"
    if compiled.usable(folded_query, items):
        return compiled.attend(items, folded_query)
    parts = items.parts(items_at_once(folded_query.device, folded_query.shape[:2].numel()))
    logits, contexts = zip(*(_attend(part, folded_query) for part in parts), strict=True)
    share = torch.softmax(torch.stack([of_part.logsumexp(-1) for of_part in logits]), dim=0)
    return torch.cat(logits, dim=-1), (share.unsqueeze(-1) * torch.stack(contexts)).sum(0)


def products(items: Items, folded_query: Float[Tensor, "S B D"]) -> Float[Tensor, "S B N"]:
    """Return the logits h . folded_query, plus the items' shift, by their keys' norms. Gradients flow through them."""
    if compiled.usable(folded_query, items):
        logits = compiled.products(items, folded_query)
    else:
        parts = items.parts(items_at_once(folded_query.device, folded_query.shape[:2].numel()))
        logits = torch.cat([torch.linalg.vecdot(part.hidden(), folded_query.unsqueeze(2)) for part in parts], dim=-1)
    if items.shift is not None:
        logits = logits + items.shift.unsqueeze(-1)
    return logits if items.key_norm is None else logits / items.key_norm


def weighted_sum(items: Items, weights: Float[Tensor, "S B N"]) -> Float[Tensor, "S B D"]:
    """Return the context of any attention weights, the sum of weight times h. Gradients flow through it."""
    if compiled.usable(weights, items):
        return compiled.weighted_sum(items, weights)
    size = items_at_once(weights.device, weights.shape[:2].numel())
    parts = zip(items.parts(size), weights.split(size, dim=-1), strict=True)
    return sum(((of_part.unsqueeze(-2) @ part.hidden()).squeeze(-2) for part, of_part in parts), weights.new_zeros(()))


def items_at_once(device: torch.device, sequences: int) -> int:
    """Return how many items of so many sequences, all seeds' together, are dense at a time."""
    return max(1, ITEMS_AT_ONCE[device.type] // sequences)


def _attend(
    items: Items, folded_query: Float[Tensor, "S B D"]
) -> tuple[Float[Tensor, "S B N"], Float[Tensor, "S B D"]]:
    hidden = items.hidden()
    logits = torch.linalg.vecdot(hidden, folded_query.unsqueeze(2))
    return logits, (torch.softmax(logits, dim=-1).unsqueeze(-2) @ hidden).squeeze(-2)
