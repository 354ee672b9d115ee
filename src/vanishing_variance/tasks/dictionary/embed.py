"""dictionary lookup: an item is Emb_K || Emb_V, the query is Emb_K of its key, from the same table (B.1)."""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float, Integer, Shaped
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding

from vanishing_variance.engine.initialisation import Initial, Scheme, linear
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.kernels.matmul import matmul
from vanishing_variance.engine.linear import Linear
from vanishing_variance.engine.linear import linear as through
from vanishing_variance.tasks.dictionary.task import Dictionary, DictionaryTraining

SPARSE_TABLES: Mapping[str, tuple[str, ...]] = {"embedding.key": ("key", "query")}


def initial(task: Dictionary, training: DictionaryTraining, width: int, scheme: Scheme) -> dict[str, Initial]:
    """Return how the embedding tables and the first layers of the item MLP and of the query MLP start."""
    embedded, std = training.embedding_width, training.embedding_std
    return {
        "embedding.key": Initial((task.key_classes, embedded), std=std),
        "embedding.value": Initial((task.value_classes, embedded), std=std),
        **linear(scheme, "item.0", 2 * embedded, width),
        **linear(scheme, "query.0", embedded, width),
    }


def tables(weights: Mapping[str, Float[Tensor, "S ..."]]) -> dict[str, Float[Tensor, "S C D"]]:
    """Return W_1 applied to every key class, and to every value class with the bias added."""
    for_key, for_value = weights["item.0.weight"].mT.chunk(2, dim=1)
    value = through(weights["embedding.value"], Linear(for_value, weights["item.0.bias"], transposed=True))
    return {"key": matmul(weights["embedding.key"], for_key), "value": value}


def embed(
    weights: Mapping[str, Float[Tensor, "S ..."]],
    batch: Mapping[str, Shaped[Tensor, "#S B ..."]],
    tables: Mapping[str, Float[Tensor, "S C D"]] | None = None,
) -> tuple[Items, Float[Tensor, "S B F"]]:
    """Return W_1 [Emb_K, Emb_V] + b_1, a row of keys plus a row of values; and Emb_K of the queried key."""
    embedded = weights["embedding.key"]
    seeds, classes, _ = embedded.shape
    asked = batch["query"].long() + torch.arange(seeds, device=embedded.device).mul(classes).unsqueeze(1)
    if tables is not None:
        keys, values, query = tables["key"], tables["value"], embedding(asked, embedded.flatten(0, 1))
    else:
        for_key, for_value = weights["item.0.weight"].mT.chunk(2, dim=1)
        keys, query = _Keys.apply(embedded, for_key, asked)  # type: ignore[no-untyped-call]
        values = through(weights["embedding.value"], Linear(for_value, weights["item.0.bias"], transposed=True))
    return Items(embedding=values, embedding_index=batch["value"], base=keys, base_index=batch["key"]), query


class _Keys(torch.autograd.Function):
    """W_1 applied to every key of a table, and the queried keys' rows of it; its gradient is made once for both."""

    @staticmethod
    def forward(
        ctx: Any, table: Float[Tensor, "S C F"], for_key: Float[Tensor, "S F D"], asked: Integer[Tensor, "S B"]
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(table, for_key, asked)
        return matmul(table, for_key), embedding(asked, table.flatten(0, 1))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_keys: Tensor, to_query: Tensor) -> tuple[Tensor, Tensor, None]:
        table, for_key, asked = ctx.saved_tensors
        to_table = matmul(to_keys, for_key.mT)
        to_table.flatten(0, 1).index_add_(0, asked.flatten(), to_query.flatten(0, 1))
        return to_table, matmul(to_keys.mT, table).mT, None
