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
from torch.nn.functional import one_hot


def gelu(x: Float[Tensor, "*any"], form: str) -> Float[Tensor, "*any"]:
    """GELU, `exact` or with the `tanh` in place of the normal distribution (Hendrycks and Gimpel 2016)."""
    return functional.gelu(x, approximate="none" if form == "exact" else form)


@dataclass(frozen=True)
class Items:
    """Item n enters as scale_n rows[r_n] + table[index_n]; `gelu` is the form of the GELU that it enters.

    Of `rows`, r is `row` where there is one, the only row where R is 1, and else the item's own, R = B N; `scale` is 1
    where there is none.
    """

    table: Float[Tensor, "S C D"]
    index: Integer[Tensor, "#S B N"]
    rows: Float[Tensor, "S R D"]
    row: Integer[Tensor, "#S B N"] | None = None
    scale: Float[Tensor, "#S B N"] | None = None
    gelu: str = "exact"

    def __post_init__(self) -> None:
        if self.row is None and self.rows.shape[1] not in {1, self.index[0].numel()}:
            raise ValueError(f"{self.rows.shape[1]} rows, not 1 or one for each of {self.index[0].numel()} items")

    @property
    def own_rows(self) -> bool:
        """Whether every item of every sequence has a row of its own."""
        return self.row is None and self.rows.shape[1] == self.index[0].numel() > 1

    def hidden(self) -> Float[Tensor, "S B N D"]:
        """The item MLP's hidden layer h."""
        return gelu(self.dense(), self.gelu)

    def dense(self) -> Float[Tensor, "S B N D"]:
        """The sums: what a plain network computes for every item."""
        seeds, (sequences, items) = len(self.table), self.index.shape[1:]
        if self.row is not None:
            first = self.rows[torch.arange(seeds, device=self.rows.device).view(-1, 1, 1), self.row.long()]
        elif self.own_rows:
            first = self.rows.unflatten(1, (sequences, items))
        else:
            first = self.rows.unsqueeze(2)
        if self.scale is not None:
            first = self.scale.unsqueeze(-1) * first
        chosen = one_hot(self.index.long(), self.table.shape[1]).to(self.table.dtype).flatten(1, 2)
        dense: Tensor = first + (chosen.expand(seeds, -1, -1) @ self.table).unflatten(1, (sequences, items))
        return dense

    def parts(self, size: int) -> Iterator["Items"]:
        """The same sequences in parts of at most `size` items."""
        sequences, items = self.index.shape[1:]
        if size >= items:
            yield self
            return
        for first in range(0, items, size):
            part = slice(first, first + size)
            rows = self.rows
            if self.own_rows:
                rows = rows.unflatten(1, (sequences, items))[:, :, part].flatten(1, 2)
            row, scale = (None if of is None else of[..., part] for of in (self.row, self.scale))
            yield replace(self, index=self.index[..., part], rows=rows, row=row, scale=scale)
