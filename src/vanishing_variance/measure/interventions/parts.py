"""The context taken apart: what the target item contributes, and what the other items do.

The context is the average of the items' hidden layers h by their attention weights a, and O is an affine function of
it: with a_t the weight of the target and rest r = (context - a_t h_t) / (1 - a_t), the average of the other items by
their own weights, the target's weight w gives the context w h_t + (1 - w) r.

S seeds, B sequences, N items, D width, K the largest distractors.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int, Int64, Shaped
from torch import Tensor
from torch.nn.functional import pad

from vanishing_variance.engine.attention import attend
from vanishing_variance.engine.device import device
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.task import Sequences
from vanishing_variance.measure.inference.models import Models

# `Sequences`, any number of them.
Batch = dict[str, Shaped[np.ndarray, "_ ..."]]
# Of so many distractors, those with the largest weights, the hidden layers are kept.
DISTRACTORS = 15
# Above this weight the rest is averaged anew, without the target: the difference would lose its digits.
CLOSE = 0.9


@dataclass(frozen=True)
class Parts:
    """The contexts of S models for B sequences, taken apart.

    `context` and its parts: the `weight` a_t and the hidden layer `target` of the target item, and the `rest`, which is
    that of the target where a sequence has no other item. `largest`: the hidden layers of the K distractors of the
    largest weights, decreasing; `profile`: their weights, of which the sum is 1; both 0 where a sequence has fewer.
    `hard`: the hidden layer of the item with the largest weight of all. `labels`: the right answers.
    """

    context: Float[Tensor, "S B D"]
    weight: Float[Tensor, "S B"]
    target: Float[Tensor, "S B D"]
    rest: Float[Tensor, "S B D"]
    largest: Float[Tensor, "S B K D"]
    profile: Float[Tensor, "S B K"]
    hard: Float[Tensor, "S B D"]
    labels: Int64[Tensor, " B"]

    @classmethod
    def of(cls, models: Models, batches: Iterable[Batch]) -> "Parts":
        """Return those of all sequences of some batches."""
        parts = [take_apart(models, batch) for batch in batches]
        names = [field.name for field in fields(cls)]
        return cls(**{name: torch.cat([getattr(one, name) for one in parts], int(name != "labels")) for name in names})

    def weighted(
        self, weight: Float[Tensor, "S B"], rest: Float[Tensor, "S _ D"] | None = None
    ) -> Float[Tensor, "S B D"]:
        """Return the context with this weight of the target, the others scaled to what it leaves."""
        weight = weight.unsqueeze(-1)
        return weight * self.target + (1 - weight) * (self.rest if rest is None else rest)


@torch.no_grad()
def take_apart(models: Models, sequences: Sequences) -> Parts:
    """Return the parts of each sequence's context."""
    items, query = models.encode(sequences)
    logits, context = attend(items, query)
    target = torch.from_numpy(sequences["target"]).to(device())
    chosen = target.view(1, -1, 1).expand(len(logits), -1, 1)
    own = logits.gather(-1, chosen)
    others = logits.scatter(-1, chosen, -torch.inf).topk(min(DISTRACTORS, logits.shape[-1] - 1))
    hidden = _some(items, partial(_at, torch.cat((chosen, others.indices), -1))).hidden()
    weight = torch.softmax(logits, -1).gather(-1, chosen).squeeze(-1)
    missing = DISTRACTORS - others.values.shape[-1]
    largest = pad(hidden[:, :, 1:], (0, 0, 0, missing))
    distracted = (others.values[:, :, :1] > own).any(-1, keepdim=True)
    return Parts(
        context=context,
        weight=weight,
        target=hidden[:, :, 0],
        rest=_rest(items, query, target, context, weight, hidden[:, :, 0]),
        largest=largest,
        profile=pad(torch.softmax(others.values, -1), (0, missing)),
        hard=torch.where(distracted, largest[:, :, 0], hidden[:, :, 0]),
        labels=torch.from_numpy(models.task.label(sequences)).to(device()),
    )


@torch.no_grad()
def flattened(models: Models, sequences: Sequences, beta: float) -> tuple[Float[Tensor, "S B"], Float[Tensor, "S B D"]]:
    """Return the target's weight and the context with the logits times `beta`."""
    items, query = models.encode(sequences)
    logits, context = attend(items, query * beta)
    target = torch.from_numpy(sequences["target"]).to(device()).view(1, -1, 1).expand(len(logits), -1, 1)
    return torch.softmax(logits, -1).gather(-1, target).squeeze(-1), context


def _rest(
    items: Items,
    query: Float[Tensor, "S B D"],
    target: Int64[Tensor, " B"],
    context: Float[Tensor, "S B D"],
    weight: Float[Tensor, "S B"],
    hidden: Float[Tensor, "S B D"],
) -> Float[Tensor, "S B D"]:
    if items.embedding_index.shape[-1] == 1:
        return hidden.clone()
    share = weight.unsqueeze(-1)
    rest = (context - share * hidden) / (1 - share)
    rows = (weight > CLOSE).any(0).nonzero().squeeze(-1)
    if len(rows):
        others = torch.arange(items.embedding_index.shape[-1] - 1, device=rows.device).expand(len(rows), -1)
        others = (others + (others >= target[rows].unsqueeze(-1))).unsqueeze(0)
        _, exact = attend(_some(items, lambda part: _at(others, part[:, rows])), query[:, rows].contiguous())
        rest[:, rows] = torch.where(weight[:, rows].unsqueeze(-1) > CLOSE, exact, rest[:, rows])
    return rest


def _some(items: Items, change: Callable[[Tensor], Tensor]) -> Items:
    """Return some of the items: `change` takes theirs of an array that has an entry for each."""
    arrays = {name: getattr(items, name) for name in ("embedding_index", "base_index", "scale")}
    changed: dict[str, Any] = {name: change(array) for name, array in arrays.items() if array is not None}
    return replace(items, **changed)


def _at(places: Int[Tensor, "#S B K"], part: Shaped[Tensor, "_ B N"]) -> Shaped[Tensor, "_ B K"]:
    """Return the entries at some places of each sequence."""
    return part.expand(len(places), -1, -1).gather(-1, places)
