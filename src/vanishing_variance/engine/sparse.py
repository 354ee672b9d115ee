"""The rows of large tables that a batch reads, instead of the tables.

S seeds, C rows of a table, F their width, R rows that a batch reads.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Integer, Shaped
from torch import Tensor


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
        arrays = [batch[name].numpy() for name in names]
        seeds = [_renumber(of_seed, sizes[table]) for of_seed in zip(*arrays, strict=True)]
        for place, name in enumerate(names):
            renumbered[name] = torch.from_numpy(np.stack([new[place] for new, _ in seeds]))
        rows[table] = torch.from_numpy(_padded([touched for _, touched in seeds]))
    return renumbered, rows


def flat_rows(rows: Integer[Tensor, "#S ..."], table: Shaped[Tensor, "S C F"]) -> Integer[Tensor, "S ..."]:
    """Return the numbers of rows of each seed's table in `table.flatten(0, 1)`."""
    seeds, num_rows, _ = table.shape
    first_row = torch.arange(seeds, device=table.device) * num_rows
    return rows.long() + first_row.view(seeds, *[1] * (rows.dim() - 1))


def _renumber(arrays: Sequence[np.ndarray], num_rows: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return one seed's arrays with its rows renumbered, and the rows, in increasing order."""
    number = np.zeros(num_rows, np.int32)
    for array in arrays:
        number[array] = 1
    touched = np.flatnonzero(number)
    number[touched] = np.arange(len(touched))
    return [number.take(array, mode="clip") for array in arrays], touched


def _padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return rows of different lengths as one array, each row's first entry repeated at its end."""
    longest = max(map(len, rows))
    return np.stack([np.append(row, np.repeat(row[0], longest - len(row))) for row in rows])
