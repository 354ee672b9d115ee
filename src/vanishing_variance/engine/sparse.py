"""The rows of large tables that a batch reads, instead of the tables.

S seeds, C rows of a table, F their width, R rows that a batch reads.
"""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Integer, Shaped
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


def touched_rows(
    batch: Mapping[str, Shaped[Tensor, "S ..."]], readers: Mapping[str, Sequence[str]], sizes: Mapping[str, int]
) -> tuple[dict[str, Shaped[Tensor, "S ..."]], dict[str, Integer[Tensor, "S R"]]]:
    """Return the batch with its arrays renumbered, and the rows that they number now, by name of the table.

    `readers` names the arrays of the batch that number a table's rows, `sizes` has its C. A seed's rows are in
    increasing order; where seeds read different numbers of rows, the first is repeated at the end. On the CPU.

    Of rows 9, 2, 9, 7 the batch reads [2, 7, 9], and its array becomes 2, 0, 2, 1.
    """
    renumbered, rows = dict(batch), {}
    for table, names in readers.items():
        arrays = {name: batch[name].flatten(1).long() for name in names}
        is_read = torch.zeros(len(batch[names[0]]), sizes[table], dtype=torch.bool)
        for array in arrays.values():
            is_read.scatter_(1, array, True)
        number = is_read.cumsum(1, dtype=torch.int32) - 1
        for name, array in arrays.items():
            renumbered[name] = number.gather(1, array).view_as(batch[name])
        touched = [of_seed.nonzero().squeeze(1) for of_seed in is_read]
        padded = pad_sequence(touched, batch_first=True, padding_value=-1)
        rows[table] = torch.where(padded < 0, padded[:, :1], padded)
    return renumbered, rows


def occurring_rows(
    batch: Mapping[str, Shaped[Tensor, "S ..."]], readers: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Shaped[Tensor, "S ..."]], dict[str, Integer[Tensor, "S R"]]]:
    """Return what `touched_rows` returns, but with one row for each occurrence: a number that occurs twice has two.

    For a GPU, where a search for equal numbers would cost more than it saves.
    """
    renumbered, rows = dict(batch), {}
    for table, names in readers.items():
        numbers = [batch[name].flatten(1) for name in names]
        rows[table] = torch.cat(numbers, dim=1)
        first = 0
        for name, array in zip(names, numbers, strict=True):
            places = torch.arange(first, first + array.shape[1], device=array.device)
            renumbered[name] = places.expand_as(array).view_as(batch[name])
            first += array.shape[1]
    return renumbered, rows


def flat_rows(rows: Integer[Tensor, "#S ..."], table: Shaped[Tensor, "S C F"]) -> Integer[Tensor, "S ..."]:
    """Return the numbers of rows of each seed's table in `table.flatten(0, 1)`."""
    seeds, num_rows, _ = table.shape
    first_row = num_rows * torch.arange(seeds, device=table.device)
    other_axes = [1] * (rows.dim() - 1)
    return rows.long() + first_row.view(seeds, *other_axes)
