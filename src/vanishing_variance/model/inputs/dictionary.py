"""dictionary lookup: an item is Emb_K || Emb_V, the query is Emb_K of its key, from the same table (B.1)."""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float, Integer, Shaped
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding

from vanishing_variance.kernels.matmul import matmul
from vanishing_variance.model.initialisation import Initial, Scheme, linear
from vanishing_variance.model.items import Items
from vanishing_variance.tasks.dictionary import Dictionary, DictionaryTraining

LOOKED_UP = ("embedding.key",)


def initial(task: Dictionary, training: DictionaryTraining, width: int, scheme: Scheme) -> dict[str, Initial]:
    """The two embedding tables and the first layers of the item MLP and of the query MLP."""
    embedded, std = training.embedding_width, training.embedding_std
    return {
        "embedding.key": Initial((task.key_classes, embedded), std=std),
        "embedding.value": Initial((task.value_classes, embedded), std=std),
        **linear(scheme, "item.0", 2 * embedded, width),
        **linear(scheme, "query.0", embedded, width),
    }


def tables(weights: Mapping[str, Float[Tensor, "S ..."]]) -> dict[str, Float[Tensor, "S C D"]]:
    """W_1 applied to every key class, and to every value class with the bias added."""
    for_key, for_value = weights["item.0.weight"].mT.chunk(2, dim=1)
    return {"key": matmul(weights["embedding.key"], for_key), "value": _value_table(weights, for_value)}


def looked_up(batch: Mapping[str, Shaped[Tensor, "S B ..."]]) -> dict[str, Integer[Tensor, "S R"]]:
    """The keys that a batch reads, those of the items and the queried ones, R = B (N + 1), in the order of reading."""
    return {"embedding.key": _wanted(batch).flatten(1)}


def enter(
    weights: Mapping[str, Float[Tensor, "S ..."]],
    batch: Mapping[str, Shaped[Tensor, "#S B ..."]],
    tables: Mapping[str, Float[Tensor, "S C D"]] | None = None,
) -> tuple[Items, Float[Tensor, "S B F"]]:
    """W_1 [Emb_K, Emb_V] + b_1: a row of keys plus a row of values; Emb_K of the queried key."""
    if tables is not None:
        items = Items(table=tables["value"], index=batch["value"], rows=tables["key"], row=batch["key"])
        return items, _rows(weights["embedding.key"], batch["query"])
    for_key, for_value = weights["item.0.weight"].mT.chunk(2, dim=1)
    wanted = _wanted(batch)
    keys, query = _rows(weights["embedding.key"], wanted).split((wanted.shape[-1] - 1, 1), dim=2)
    values = _value_table(weights, for_value)
    return Items(table=values, index=batch["value"], rows=matmul(keys.flatten(1, 2), for_key)), query.squeeze(2)


def _wanted(batch: Mapping[str, Tensor]) -> Tensor:
    return torch.cat((batch["key"], batch["query"].unsqueeze(-1)), dim=-1)


def _value_table(weights: Mapping[str, Tensor], for_value: Tensor) -> Tensor:
    return matmul(weights["embedding.value"], for_value, weights["item.0.bias"])


def _rows(table: Float[Tensor, "S C F"], index: Integer[Tensor, "#S *any"]) -> Float[Tensor, "S *any F"]:
    """Rows `index` of each seed's table."""
    seeds, classes, _ = table.shape
    offset = torch.arange(seeds, device=table.device).mul_(classes)
    rows: Tensor = _LookUp.apply(  # type: ignore[no-untyped-call]
        table, index.long() + offset.view(-1, *[1] * (index.dim() - 1))
    )
    return rows


class _LookUp(torch.autograd.Function):
    """Rows of a table, whose gradient goes straight into `table.grad` where there is one.

    A step touches a twelfth of the keys. A fresh dense gradient of the whole table at every step, which autograd would
    make and add, costs more than the rest of the step (page faults, mostly).
    """

    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor) -> Tensor:
        ctx.table, ctx.index = table, index
        return embedding(index, table.flatten(0, 1))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None]:
        table = ctx.table
        in_place = table.is_leaf and table.grad is not None
        into = table.grad if in_place else torch.zeros_like(table)
        into.flatten(0, 1).index_add_(0, ctx.index.flatten(), gradient.flatten(0, -2))
        return (None if in_place else into), None
