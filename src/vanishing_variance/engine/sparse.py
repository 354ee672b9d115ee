"""The rows of large tables that a batch reads, instead of the tables.

S seeds, C rows of a table, R rows that a batch reads.
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
    """
    batch, rows = dict(batch), {}
    for table, names in readers.items():
        arrays = [batch[name].numpy() for name in names]
        renumbered = [np.empty(array.shape, np.int32) for array in arrays]
        touched = []
        for seed in range(len(arrays[0])):
            ranks = np.zeros(sizes[table], np.int32)
            for array in arrays:
                ranks[array[seed]] = 1
            touched.append(np.flatnonzero(ranks))
            ranks[touched[-1]] = np.arange(len(touched[-1]), dtype=np.int32)
            for array, new in zip(arrays, renumbered, strict=True):
                np.take(ranks, array[seed], out=new[seed], mode="clip")
        padded = np.empty((len(touched), max(map(len, touched))), np.int64)
        for place, one in enumerate(touched):
            padded[place, : len(one)], padded[place, len(one) :] = one, one[0]
        rows[table] = torch.from_numpy(padded)
        batch |= {name: torch.from_numpy(new) for name, new in zip(names, renumbered, strict=True)}
    return batch, rows
