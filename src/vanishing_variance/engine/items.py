"""The items of a batch at the item MLP's GELU: the sums of its first layer, not yet computed.

S seeds, B sequences, N items, D width, C rows of the embedding, R bases. Where all seeds share the sequences, an
index's first axis is 1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np
from jaxtyping import Float, Integer
from torch import Tensor
from torch.nn.functional import embedding, gelu, one_hot

from vanishing_variance.engine.sparse import flat_rows

# Rows that a product with one-hot vectors chooses faster than a look-up; it takes memory for each of them an item.
MOST_ONE_HOT = 2**8


@dataclass(frozen=True)
class Items:
    """Item n enters GELU as scale_n base[base_index_n] + embedding[embedding_index_n].

    Without `base_index` all items have one base, R = 1; without `scale` it is 1; without `gelu` the sums are the
    hidden layer. `shift` is added to all logits of a sequence where it is given: a softmax does not notice it, other
    attention maps do. Raises ValueError for several bases without `base_index`.
    """

    embedding: Float[Tensor, "S C D"]
    embedding_index: Integer[Tensor, "#S B N"]
    base: Float[Tensor, "S R D"]
    base_index: Integer[Tensor, "#S B N"] | None = None
    scale: Float[Tensor, "#S B N"] | None = None
    gelu: bool = True
    shift: Float[Tensor, "S B"] | None = None

    def __post_init__(self) -> None:
        if self.base_index is None and self.base.shape[1] != 1:
            raise ValueError(f"{self.base.shape[1]} bases, and no item says which is its own")

    def hidden(self) -> Float[Tensor, "S B N D"]:
        """Return the item MLP's hidden layer h."""
        return gelu(self.dense()) if self.gelu else self.dense()

    def dense(self) -> Float[Tensor, "S B N D"]:
        """Return the sums: what a plain network computes for every item."""
        if self.base_index is None:
            base = self.base.unsqueeze(2)
        else:
            base = embedding(flat_rows(self.base_index, self.base), self.base.flatten(0, 1))
        if self.scale is not None:
            base = self.scale.unsqueeze(-1) * base
        seeds, num_rows, _ = self.embedding.shape
        if num_rows > MOST_ONE_HOT:
            rows = flat_rows(self.embedding_index, self.embedding)
            return base + embedding(rows, self.embedding.flatten(0, 1))
        chosen = one_hot(self.embedding_index.long(), num_rows).to(self.embedding.dtype)
        embedded = chosen.flatten(1, 2).expand(seeds, -1, -1) @ self.embedding
        dense: Tensor = base + embedded.unflatten(1, self.embedding_index.shape[1:])
        return dense

    def select(self, choose: Callable[[Tensor], Tensor]) -> "Items":
        """Return other items of the same tables: `choose` is applied to each array that has an entry an item."""
        chosen: dict[str, Any] = {}
        for name in ("embedding_index", "base_index", "scale"):
            array = getattr(self, name)
            if array is not None:
                chosen[name] = choose(array)
        return replace(self, **chosen)

    def repeat(self, heads: int) -> "Items":
        """Return the items of each sequence for each of its heads, which follow one another."""
        return self.select(lambda array: array.unsqueeze(2).expand(-1, -1, heads, -1).flatten(1, 2))

    def parts(self, size: int) -> Iterator["Items"]:
        """Yield the same sequences in parts of at most `size` items."""
        for first in range(0, self.embedding_index.shape[2], size):
            part = np.s_[..., first : first + size]
            yield self.select(itemgetter(part))
