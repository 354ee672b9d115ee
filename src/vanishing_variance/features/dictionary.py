"""dictionary lookup: an item is Emb_K || Emb_V, the query is Emb_K of its key, from the same table (B.1).

B sequences, N items, F features.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from vanishing_variance.tasks.dictionary.task import Dictionary, DictionaryTraining


class Features(nn.Module):
    """Learned embeddings, which are trained with the network; `items` and `query` are the features' widths."""

    def __init__(self, task: Dictionary, training: DictionaryTraining) -> None:
        super().__init__()
        width = training.embedding_width
        self.items, self.query = 2 * width, width
        self.key = nn.Embedding(task.key_classes, width)
        self.value = nn.Embedding(task.value_classes, width)
        for table in (self.key, self.value):
            nn.init.normal_(table.weight, std=training.embedding_std)

    def forward(
        self, batch: Mapping[str, Shaped[Tensor, "B ..."]]
    ) -> tuple[Float[Tensor, "B N F"], Float[Tensor, "B _"]]:
        """Return the features of the items, and those of the query."""
        key, value = self.key(batch["key"].long()), self.value(batch["value"].long())
        return torch.cat((key, value), dim=-1), self.key(batch["query"].long())
