"""A task's features as networks read them: numbers, one-hot categories, and embeddings, which are trained along.

B sequences, N items, F and G features of an item and of the query.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from vanishing_variance.engine.task import (
    Embedded,
    EmbeddingTraining,
    Feature,
    Number,
    Task,
    TaskTraining,
    count,
    widths,
)


class Features(nn.Module):
    """Features side by side as the task names them, and without a query the constant 1; `widths` are F and G."""

    _one: Tensor

    def __init__(self, task: Task, training: TaskTraining) -> None:
        super().__init__()
        self._items, self._query = task.item_features, task.query_features
        self.widths = sum(widths(self._items, training)), sum(widths(self._query, training))
        # of the networks' dtype and device
        self.register_buffer("_one", torch.ones(()), persistent=False)
        if not isinstance(training, EmbeddingTraining):  # there are no tables
            return
        for name, rows in task.tables.items():
            # so that it may have any name: an attribute might be taken, such as `type`
            self._modules[name] = nn.Embedding(rows, training.embedding_width)
        for name in task.tables:
            nn.init.normal_(self._table(name).weight, std=training.embedding_std)

    def forward(
        self, batch: Mapping[str, Shaped[Tensor, "B ..."]]
    ) -> tuple[Float[Tensor, "B N F"], Float[Tensor, "B G"]]:
        """Return the features of the items, and those of the query."""
        items = torch.cat([self._numbers(feature, batch[name]) for name, feature in self._items.items()], dim=-1)
        if not self._query:
            return items, self._one.expand(len(items), 1)
        query = torch.cat([self._numbers(feature, batch[name]) for name, feature in self._query.items()], dim=-1)
        return items, query

    def _table(self, name: str) -> nn.Embedding:
        table = self._modules[name]
        assert isinstance(table, nn.Embedding)
        return table

    def _numbers(self, feature: Feature, values: Shaped[Tensor, "B ..."]) -> Float[Tensor, "B ..."]:
        if isinstance(feature, Embedded):
            embedded: Tensor = self._table(feature.table)(values.long())
            return embedded
        if isinstance(feature, Number):
            return values.unsqueeze(-1) if feature.width == 1 else values
        values = values.unsqueeze(-1)
        # not one_hot, which looks at its values, so that torch.func.vmap can take this module
        classes = torch.arange(count(feature), device=values.device)
        return (values == classes).to(self._one)
