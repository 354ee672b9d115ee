"""The context taken apart: what the target item contributes, and what the other items do.

The context is the average of the items' hidden layers h by their attention weights a, and O is an affine function of
it: with a_t the weight of the target and rest r = (context - a_t h_t) / (1 - a_t), the average of the other items by
their own weights, the target's weight w gives the context w h_t + (1 - w) r.

S seeds, B sequences, BH rows of attention (the heads of a sequence one after another), N items, P features of a
context.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
import torch
from jaxtyping import Float, Int64, Shaped
from torch import Tensor

from vanishing_variance.engine.attend import attend
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.task import TARGET, Sequences
from vanishing_variance.measure.inference.models import Models, at_target, items_at, targets

# `Sequences`, any number of them.
Batch = dict[str, Shaped[np.ndarray, "_ ..."]]
# Above this weight the rest is averaged anew, without the target: the difference would lose its digits.
CLOSE = 0.9


@dataclass(frozen=True)
class Parts:
    """The contexts of S models for B sequences, taken apart in every head.

    `context` and its parts: the `weight` a_t and the hidden layer `target` of the target item, and the `rest`, which is
    that of the target where a sequence has no other item. `labels`: the correct answers.
    """

    context: Float[Tensor, "S BH P"]
    weight: Float[Tensor, "S BH"]
    target: Float[Tensor, "S BH P"]
    rest: Float[Tensor, "S BH P"]
    labels: Int64[Tensor, " B"]

    def weighted(self, weight: Float[Tensor, "S BH"]) -> Float[Tensor, "S BH P"]:
        """Return the context with this weight of the target, the others scaled to what it leaves."""
        weight = weight.unsqueeze(-1)
        return weight * self.target + (1 - weight) * self.rest


@torch.no_grad()
def take_apart(models: Models, batches: Iterable[Batch]) -> Parts:
    """Return the parts of each sequence's context, of all batches together."""
    parts = [_take_apart(models, batch) for batch in batches]
    joined = {}
    for field in fields(Parts):
        tensors = [getattr(part, field.name) for part in parts]
        joined[field.name] = torch.cat(tensors, dim=0 if field.name == "labels" else 1)
    return Parts(**joined)


def _take_apart(models: Models, sequences: Sequences) -> Parts:
    items, folded_query = models.encode(sequences)
    logits, context = attend(items, folded_query)
    weight = at_target(torch.softmax(logits, dim=-1), sequences)

    of_target = rest = torch.full_like(context, torch.nan)  # of a task without a target
    if TARGET in sequences:
        target = targets(sequences, logits.shape[1])
        target_index = target.view(1, -1, 1).expand(len(logits), -1, 1)
        of_target = items_at(items, target_index).hidden().squeeze(2)
        rest = _rest(items, folded_query, target, context, weight, of_target)
    return Parts(
        context=context,
        weight=weight,
        target=of_target,
        rest=rest,
        labels=models.labels(sequences),
    )


def _rest(
    items: Items,
    folded_query: Float[Tensor, "S BH P"],
    target: Int64[Tensor, " BH"],
    context: Float[Tensor, "S BH P"],
    weight: Float[Tensor, "S BH"],
    of_target: Float[Tensor, "S BH P"],
) -> Float[Tensor, "S BH P"]:
    """Return the average of the items other than the target; of a sequence of one item, that item."""
    number = items.embedding_index.shape[-1]
    if number == 1:
        return of_target.clone()
    weight = weight.unsqueeze(-1)
    rest = (context - weight * of_target) / (1 - weight)
    close = weight > CLOSE
    rows = close.any(0).flatten().nonzero().squeeze(-1)
    if len(rows):
        # the indices of all items but the target: from its own on, they are one more
        others = torch.arange(number - 1, device=rows.device)
        others = others + (others >= target[rows].unsqueeze(-1))
        other_items = items_at(items, others.unsqueeze(0), rows)
        _, exact = attend(other_items, folded_query[:, rows].contiguous())
        rest[:, rows] = torch.where(close[:, rows], exact, rest[:, rows])
    return rest
