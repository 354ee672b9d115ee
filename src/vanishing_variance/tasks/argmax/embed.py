"""argmax retrieval: an item is its priority beside the one-hot of its class, the query one number (B.1)."""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.autograd.function import once_differentiable

from vanishing_variance.core.task import TaskTraining
from vanishing_variance.model.initialisation import Initial, Scheme, linear
from vanishing_variance.model.items import Items
from vanishing_variance.tasks.argmax.task import Argmax

SPARSE_TABLES: Mapping[str, tuple[str, ...]] = {}


def initial(task: Argmax, training: TaskTraining, width: int, scheme: Scheme) -> dict[str, Initial]:
    """Return how the first layers of the item MLP and of the query MLP start."""
    return linear(scheme, "item.0", 1 + task.classes, width) | linear(scheme, "query.0", 1, width)


def tables(weights: Mapping[str, Float[Tensor, "S ..."]]) -> dict[str, Float[Tensor, "S C D"]]:
    """Return nothing to look up: priorities are continuous."""
    return {}


def embed(
    weights: Mapping[str, Float[Tensor, "S ..."]],
    batch: Mapping[str, Shaped[Tensor, "#S B ..."]],
    tables: Mapping[str, Float[Tensor, "S C D"]] | None = None,
) -> tuple[Items, Float[Tensor, "S B 1"]]:
    """Return W_1 [priority, one-hot(class)] + b_1, priority times one row plus a row of a table; and the query."""
    weight, bias = weights["item.0.weight"], weights["item.0.bias"]
    rows, table = _Entry.apply(weight, bias)  # type: ignore[no-untyped-call]
    items = Items(embedding=table, embedding_index=batch["class"], base=rows, scale=batch["priority"])
    return items, batch["query"].unsqueeze(-1).expand(len(weight), -1, -1)


class _Entry(torch.autograd.Function):
    """The column of W_1 that the priority multiplies, and those of the classes with the bias added, as rows."""

    @staticmethod
    def forward(ctx: Any, weight: Float[Tensor, "S D F"], bias: Float[Tensor, "S D"]) -> tuple[Tensor, Tensor]:
        rows = weight.mT.contiguous()
        return rows[:, :1].clone(), rows[:, 1:] + bias.unsqueeze(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_row: Tensor, to_table: Tensor) -> tuple[Tensor, Tensor]:
        return torch.cat((to_row, to_table), dim=1).mT.contiguous(), to_table.sum(1)
