"""The sum of hidden layers by attention of one query over items: the context, from which the network makes O.

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

    Memory for h is bounded, whatever N is. Gradients flow through the context.
    """
    if compiled.usable(folded_query, items):
        return compiled.attend(items, folded_query)
    logits, contexts = [], []
    query = folded_query.unsqueeze(2)
    for part in items.parts(_items_at_once(folded_query)):
        hidden = part.hidden()
        part_logits = torch.linalg.vecdot(hidden, query)
        part_weights = torch.softmax(part_logits, dim=-1)
        logits.append(part_logits)
        contexts.append((part_weights.unsqueeze(-2) @ hidden).squeeze(-2))
    sums = torch.stack([part_logits.logsumexp(-1) for part_logits in logits])
    part_shares = torch.softmax(sums, dim=0).unsqueeze(-1)
    context = (part_shares * torch.stack(contexts)).sum(0)
    return torch.cat(logits, dim=-1), context


def products(items: Items, folded_query: Float[Tensor, "S B D"]) -> Float[Tensor, "S B N"]:
    """Return the logits h . folded_query, plus the items' shift. Gradients flow through them."""
    if compiled.usable(folded_query, items):
        logits = compiled.products(items, folded_query)
    else:
        query = folded_query.unsqueeze(2)
        parts = items.parts(_items_at_once(folded_query))
        logits = torch.cat([torch.linalg.vecdot(part.hidden(), query) for part in parts], dim=-1)
    if items.shift is None:
        return logits
    return logits + items.shift.unsqueeze(-1)


def weighted_sum(items: Items, weights: Float[Tensor, "S B N"]) -> Float[Tensor, "S B D"]:
    """Return the context of any attention weights, the sum of weight times h. Gradients flow through it."""
    if compiled.usable(weights, items):
        return compiled.weighted_sum(items, weights)
    context = weights.new_zeros(())
    size = _items_at_once(weights)
    for part, part_weights in zip(items.parts(size), weights.split(size, dim=-1), strict=True):
        context = context + (part_weights.unsqueeze(-2) @ part.hidden()).squeeze(-2)
    return context


def _items_at_once(x: Float[Tensor, "S B _"]) -> int:
    """Return how many items of each of these sequences are dense at a time."""
    sequences = x.shape[:2].numel()
    return max(1, ITEMS_AT_ONCE[x.device.type] // sequences)
