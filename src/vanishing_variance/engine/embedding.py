"""The item MLP's first layer and the features of the query, of any task whose items fit `Items`.

W_1 of an item's features, side by side, is the sum of a row for each of them: of the columns of W_1 for a number, times
the number; of W_1 applied to every class of a category, one-hot or embedded, its class's. `Items` has two rows: the
number's, or without a number that of the category with the most classes; and one for all other categories together.

S seeds, B sequences, N items, C classes, E width of an embedding, D width, G features of the query.
"""

from functools import reduce
from typing import Any

import torch
from jaxtyping import Float, Integer
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding

from vanishing_variance.engine import initialisation
from vanishing_variance.engine.initialisation import Initial
from vanishing_variance.engine.interfaces import Batch, Weights
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.kernels.matmul import matmul
from vanishing_variance.engine.linear import Linear, linear
from vanishing_variance.engine.sparse import flat_rows
from vanishing_variance.engine.task import (
    Embedded,
    EmbeddingTraining,
    Feature,
    Features,
    Number,
    OneHot,
    Task,
    TaskTraining,
    count,
    widths,
)

# Rows of a table from which on a step reads a part of it alone.
SPARSE_ABOVE = 2**7


class Embedding:
    """How a task's items and query enter the network.

    `base`: the number, or the category with the most classes; `others`: the other categories. `sparse_tables`: the
    learned tables of which a batch reads a few rows, each with the arrays that number them.
    """

    def __init__(self, task: Task) -> None:
        self.items, self.query, self._tables = task.item_features, task.query_features, task.tables
        numbers = [name for name, feature in self.items.items() if isinstance(feature, Number)]
        largest = max(self.items, key=lambda name: count(self.items[name]))
        self.base = numbers[0] if numbers else largest
        self.others = [name for name in self.items if name != self.base]
        self.sparse_tables: dict[str, tuple[str, ...]] = {}
        for table, rows in self._tables.items():
            if rows > SPARSE_ABOVE:
                self.sparse_tables[_weight(table)] = *_readers(self.items, table), *_readers(self.query, table)

    def initial(self, training: TaskTraining, width: int) -> dict[str, Initial]:
        """Return how the tables, and the first layers of the item MLP and of the query MLP start."""
        tensors = {}
        for table, rows in self._tables.items():
            assert isinstance(training, EmbeddingTraining)
            tensors[_weight(table)] = Initial((rows, training.embedding_width), std=training.embedding_std)
        tensors |= initialisation.linear_layer("item.0", sum(widths(self.items, training)), width)
        tensors |= initialisation.linear_layer("query.0", sum(widths(self.query, training)), width)
        return tensors

    def tables(self, weights: Weights) -> dict[str, Float[Tensor, "S _ D"]]:
        """Return what `embed` may look up instead of computing it for every batch: the rows that items are sums of."""
        return self._rows(weights, self._columns(weights), {})

    def embed(
        self, weights: Weights, batch: Batch, tables: Weights | None = None
    ) -> tuple[Items, Float[Tensor, "S B G"]]:
        """Return the item MLP's first linear layer of every item, and the features that the query MLP reads."""
        queried: dict[str, Tensor] = {}
        if tables is None:
            columns = self._columns(weights)  # once: each time is a gradient of its own
            shared, queried = self._shared(weights, columns, batch)
            tables = self._rows(weights, columns, shared)
        scaled = isinstance(self.items[self.base], Number)
        items = Items(
            embedding=tables["embedding"],
            embedding_index=self._together(weights, batch),
            base=tables["base"],
            base_index=None if scaled else batch[self.base],
            scale=batch[self.base] if scaled else None,
        )
        return items, self._query_features(weights, batch, queried)

    def _columns(self, weights: Weights) -> dict[str, Float[Tensor, "S _ D"]]:
        """Return W_1, transposed: its part for each feature of an item."""
        sizes = [_table_size(weights, feature)[1] for feature in self.items.values()]
        return dict(zip(self.items, weights["item.0.weight"].mT.split(sizes, dim=1), strict=True))

    def _rows(self, weights: Weights, columns: Weights, shared: Weights) -> dict[str, Float[Tensor, "S _ D"]]:
        """Return the rows of both parts of an item, the bias in the second; `shared`: of some categories, if known."""
        rows, bias = {}, weights["item.0.bias"]
        for name, feature in self.items.items():
            own_bias = bias if self.others[-1:] == [name] else None
            if isinstance(feature, Embedded) and name not in shared:
                layer = Linear(columns[name], own_bias, transposed=True)
                rows[name] = linear(weights[_weight(feature.table)], layer)
            else:
                rows[name] = shared.get(name, columns[name])
                if own_bias is not None:
                    rows[name] = rows[name] + bias.unsqueeze(1)
        of_others = [rows[name] for name in self.others] or [bias.unsqueeze(1)]
        return {"base": rows[self.base], "embedding": reduce(_every_sum, of_others)}

    def _together(self, weights: Weights, batch: Batch) -> Integer[Tensor, "#S B N"]:
        """Return the row of each item in the table of all categories but that of the base."""
        if not self.others:
            return torch.zeros_like(batch[self.base], dtype=torch.int32)
        first, *others = self.others
        index = batch[first]
        for name in others:
            rows, _ = _table_size(weights, self.items[name])
            index = index.long() * rows + batch[name].long()
        return index

    def _shared(self, weights: Weights, columns: Weights, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Return W_1 applied to the tables that the query reads, too, and its rows of them, by name of the array."""
        applied: dict[str, Tensor] = {}
        queried: dict[str, Tensor] = {}
        for table in self._tables:
            of_items, of_query = _readers(self.items, table), _readers(self.query, table)
            if of_items and of_query:
                first, rows = of_items[0], weights[_weight(table)]
                numbers = torch.cat([flat_rows(batch[name], rows) for name in of_query], dim=1)
                applied[first], read = _Shared.apply(rows, columns[first], numbers)  # type: ignore[no-untyped-call]
                queried |= zip(of_query, read.chunk(len(of_query), dim=1), strict=True)
        return applied, queried

    def _query_features(self, weights: Weights, batch: Batch, queried: Weights) -> Float[Tensor, "S B G"]:
        """Return the features of the query, side by side; `queried`: rows of tables, if known."""
        bias = weights["item.0.bias"]
        if not self.query:
            return bias.new_ones(len(bias), batch[self.base].shape[1], 1)
        parts = []
        for name, feature in self.query.items():
            if name in queried:
                parts.append(queried[name])
            elif isinstance(feature, Embedded):
                table = weights[_weight(feature.table)]
                parts.append(embedding(flat_rows(batch[name], table), table.flatten(0, 1)))
            else:
                values = batch[name].unsqueeze(-1)
                if isinstance(feature, OneHot):
                    classes = torch.arange(count(feature), device=values.device)
                    values = (values == classes).to(bias.dtype)
                parts.append(values.expand(len(bias), -1, -1))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)


def _weight(table: str) -> str:
    """Return the name of a table's tensor."""
    return f"embedding.{table}"


def _table_size(weights: Weights, feature: Feature) -> tuple[int, int]:
    """Return the rows of a feature's table, of which a batch may have read a part alone, and how many numbers each has.

    A category that is not embedded has a row and a number for each class, a number has one.
    """
    if isinstance(feature, Embedded):
        _, rows, width = weights[_weight(feature.table)].shape
        return rows, width
    return count(feature), count(feature)


def _readers(features: Features, table: str) -> list[str]:
    """Return the arrays that number a table's rows."""
    return [name for name, feature in features.items() if isinstance(feature, Embedded) and feature.table == table]


def _every_sum(one: Float[Tensor, "S _ D"], other: Float[Tensor, "S _ D"]) -> Float[Tensor, "S _ D"]:
    """Return the sum of each row of one table and each of the other, the other's varying faster."""
    return (one.unsqueeze(2) + other.unsqueeze(1)).flatten(1, 2)


class _Shared(torch.autograd.Function):
    """W_1 applied to every row of a table, and the queried rows of it; one gradient of the table for both."""

    @staticmethod
    def forward(
        ctx: Any, table: Float[Tensor, "S C E"], columns: Float[Tensor, "S E D"], queried: Integer[Tensor, "S _"]
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(table, columns, queried)
        return matmul(table, columns), embedding(queried, table.flatten(0, 1))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_applied: Tensor, to_queried: Tensor) -> tuple[Tensor, Tensor, None]:
        table, columns, queried = ctx.saved_tensors
        to_table = matmul(to_applied, columns.mT)
        rows = to_table.flatten(0, 1)
        rows.index_add_(0, queried.flatten(), to_queried.flatten(0, 1))
        to_columns = matmul(to_applied.mT, table).mT
        return to_table, to_columns, None
