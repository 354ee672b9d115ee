"""The items of a batch on their way into the item MLP's GELU: its first linear layer, not yet multiplied out.

S seeds, B sequences, N items, D width, C rows of the table, R other rows. Where all seeds share the sequences, an
index's first axis is 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Integer
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import embedding, one_hot


def gelu(x: Float[Tensor, "*any"], form: str) -> Float[Tensor, "*any"]:
    """Return GELU, `exact` or with `tanh` in place of the normal distribution (Hendrycks and Gimpel 2016)."""
    return functional.gelu(x, approximate="none" if form == "exact" else form)


@dataclass(frozen=True)
class Items:
    """Item n enters as scale_n rows[row_n] + table[index_n]; `gelu` is the form of the GELU that it enters.

    Without `row` there is one row for all, R = 1; `scale` is 1 where there is none. Raises ValueError for more rows
    that no item names.
    """

    table: Float[Tensor, "S C D"]
    index: Integer[Tensor, "#S B N"]
    rows: Float[Tensor, "S R D"]
    row: Integer[Tensor, "#S B N"] | None = None
    scale: Float[Tensor, "#S B N"] | None = None
    gelu: str = "exact"

    def __post_init__(self) -> None:
        if self.row is None and self.rows.shape[1] != 1:
            raise ValueError(f"{self.rows.shape[1]} rows, and no item says which is its own")

    def hidden(self) -> Float[Tensor, "S B N D"]:
        """Return the item MLP's hidden layer h."""
        return gelu(self.dense(), self.gelu)

    def dense(self) -> Float[Tensor, "S B N D"]:
        """Return the sums: what a plain network computes for every item."""
        seeds, (sequences, items) = len(self.table), self.index.shape[1:]
        if self.row is None:
            first = self.rows.unsqueeze(2)
        else:
            offset = torch.arange(seeds, device=self.rows.device).mul(self.rows.shape[1]).view(-1, 1, 1)
            first = embedding(self.row.long() + offset, self.rows.flatten(0, 1))
        if self.scale is not None:
            first = self.scale.unsqueeze(-1) * first
        chosen = one_hot(self.index.long(), self.table.shape[1]).to(self.table.dtype).flatten(1, 2)
        dense: Tensor = first + (chosen.expand(seeds, -1, -1) @ self.table).unflatten(1, (sequences, items))
        return dense

    def parts(self, size: int) -> Iterator["Items"]:
        """Yield the same sequences in parts of at most `size` items."""
        items = self.index.shape[2]
        if size >= items:
            yield self
            return
        for first in range(0, items, size):
            part = slice(first, first + size)
            row, scale = (None if of is None else of[..., part] for of in (self.row, self.scale))
            yield replace(self, index=self.index[..., part], row=row, scale=scale)
