"""dictionary lookup: an item is Emb_K || Emb_V, the query is Emb_K of its key, from the same table (B.1)."""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float, Integer, Shaped
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding

from vanishing_variance.engine import initialisation
from vanishing_variance.engine.initialisation import Initial
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.kernels.matmul import matmul
from vanishing_variance.engine.linear import Linear, linear
from vanishing_variance.engine.sparse import flat_rows
from vanishing_variance.tasks.dictionary.task import Dictionary, DictionaryTraining

SPARSE_TABLES: Mapping[str, tuple[str, ...]] = {"embedding.key": ("key", "query")}


def initial(task: Dictionary, training: DictionaryTraining, width: int) -> dict[str, Initial]:
    """Return how the embedding tables and the first layers of the item MLP and of the query MLP start."""
    embedded, std = training.embedding_width, training.embedding_std
    return {
        "embedding.key": Initial((task.key_classes, embedded), std=std),
        "embedding.value": Initial((task.value_classes, embedded), std=std),
        **initialisation.linear("item.0", 2 * embedded, width),
        **initialisation.linear("query.0", embedded, width),
    }


def tables(weights: Mapping[str, Float[Tensor, "S ..."]]) -> dict[str, Float[Tensor, "S C D"]]:
    """Return W_1 applied to every key class, and to every value class with the bias added."""
    for_key, for_value = _halves(weights)
    return {"key": matmul(weights["embedding.key"], for_key), "value": _values(weights, for_value)}


def embed(
    weights: Mapping[str, Float[Tensor, "S ..."]],
    batch: Mapping[str, Shaped[Tensor, "#S B ..."]],
    tables: Mapping[str, Float[Tensor, "S C D"]] | None = None,
) -> tuple[Items, Float[Tensor, "S B F"]]:
    """Return W_1 [Emb_K, Emb_V] + b_1, a row of keys plus a row of values; and Emb_K of the queried key."""
    embedded = weights["embedding.key"]
    queried = flat_rows(batch["query"], embedded)
    if tables is not None:
        keys, values, query = tables["key"], tables["value"], embedding(queried, embedded.flatten(0, 1))
    else:
        for_key, for_value = _halves(weights)
        keys, query = _Keys.apply(embedded, for_key, queried)  # type: ignore[no-untyped-call]
        values = _values(weights, for_value)
    return Items(embedding=values, embedding_index=batch["value"], base=keys, base_index=batch["key"]), query


def _halves(weights: Mapping[str, Float[Tensor, "S ..."]]) -> tuple[Float[Tensor, "S F D"], Float[Tensor, "S F D"]]:
    """Return W_1, transposed: its part for keys, and that for values."""
    for_key, for_value = weights["item.0.weight"].mT.chunk(2, dim=1)
    return for_key, for_value


def _values(weights: Mapping[str, Float[Tensor, "S ..."]], for_value: Float[Tensor, "S F D"]) -> Float[Tensor, "S C D"]:
    """Return W_1 applied to every value class, with the bias added."""
    return linear(weights["embedding.value"], Linear(for_value, weights["item.0.bias"], transposed=True))


class _Keys(torch.autograd.Function):
    """W_1 applied to every key of a table, and the queried keys' rows of it; one gradient of the table for both."""

    @staticmethod
    def forward(
        ctx: Any, table: Float[Tensor, "S C F"], for_key: Float[Tensor, "S F D"], queried: Integer[Tensor, "S B"]
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(table, for_key, queried)
        return matmul(table, for_key), embedding(queried, table.flatten(0, 1))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_keys: Tensor, to_query: Tensor) -> tuple[Tensor, Tensor, None]:
        table, for_key, queried = ctx.saved_tensors
        to_table = matmul(to_keys, for_key.mT)
        rows = to_table.flatten(0, 1)
        rows.index_add_(0, queried.flatten(), to_query.flatten(0, 1))
        to_for_key = matmul(to_keys.mT, table).mT
        return to_table, to_for_key, None
