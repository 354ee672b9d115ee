"""The items of a batch on their way into the item MLP's GELU: its first linear layer, not yet multiplied out.

S seeds, B sequences, N items, D width, C embeddings, R bases. Where all seeds share the sequences, an
index's first axis is 1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import torch
from jaxtyping import Float, Integer
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import embedding, one_hot


def gelu(x: Float[Tensor, "*any"], form: str) -> Float[Tensor, "*any"]:
    """Return GELU, `exact` or with `tanh` for the normal distribution (Hendrycks and Gimpel 2016); or x, `none`."""
    if form == "none":
        return x
    return functional.gelu(x, approximate="none" if form == "exact" else form)


@dataclass(frozen=True)
class Items:
    """Item n enters GELU as scale_n base[base_index_n] + embedding[embedding_index_n]; `gelu` is the form of that GELU.

    Without `base_index` there is one base for all, R = 1; without `scale` it is 1. Where they are given, `shift` is
    added to all logits of a sequence, and then each is divided by its item's `key_norm`: without the division a softmax
    does not notice the shift, other maps do. Raises ValueError for several bases without `base_index`.
    """

    embedding: Float[Tensor, "S C D"]
    embedding_index: Integer[Tensor, "#S B N"]
    base: Float[Tensor, "S R D"]
    base_index: Integer[Tensor, "#S B N"] | None = None
    scale: Float[Tensor, "#S B N"] | None = None
    gelu: str = "exact"
    shift: Float[Tensor, "S QB"] | None = None
    key_norm: Float[Tensor, "S B N"] | None = None

    def __post_init__(self) -> None:
        if self.base_index is None and self.base.shape[1] != 1:
            raise ValueError(f"{self.base.shape[1]} bases, and no item says which is its own")

    def hidden(self) -> Float[Tensor, "S B N D"]:
        """Return the item MLP's hidden layer h."""
        return gelu(self.dense(), self.gelu)

    def dense(self) -> Float[Tensor, "S B N D"]:
        """Return the sums: what a plain network computes for every item."""
        seeds, (sequences, items) = len(self.embedding), self.embedding_index.shape[1:]
        if self.base_index is None:
            first = self.base.unsqueeze(2)
        else:
            offset = torch.arange(seeds, device=self.base.device).mul(self.base.shape[1]).view(-1, 1, 1)
            first = embedding(self.base_index.long() + offset, self.base.flatten(0, 1))
        if self.scale is not None:
            first = self.scale.unsqueeze(-1) * first
        chosen = one_hot(self.embedding_index.long(), self.embedding.shape[1]).to(self.embedding.dtype).flatten(1, 2)
        dense: Tensor = first + (chosen.expand(seeds, -1, -1) @ self.embedding).unflatten(1, (sequences, items))
        return dense

    def parts(self, size: int) -> Iterator["Items"]:
        """Yield the same sequences in parts of at most `size` items."""
        items = self.embedding_index.shape[2]
        if size >= items:
            yield self
            return
        for first in range(0, items, size):
            yield self._changed(itemgetter((..., slice(first, first + size))))

    def repeated(self, times: int) -> "Items":
        """Return the same sequences so many times, one set after the other; `shift` is that of all already."""
        return self._changed(lambda array: torch.cat([array] * times, dim=1))

    def _changed(self, change: Callable[[Tensor], Tensor]) -> "Items":
        """Return items with a change in every array that has an entry for each of them."""
        arrays = {name: getattr(self, name) for name in ("embedding_index", "base_index", "scale", "key_norm")}
        changed: dict[str, Any] = {name: change(array) for name, array in arrays.items() if array is not None}
        return replace(self, **changed)
