"""Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019) for an ensemble.

Large tables of which a step reads a few rows are stepped row by row, when a row is next read (adam.c), where they are
float32 on a CPU that has a C compiler; all other weights by torch's fused AdamW.

S seeds, C rows of a table, F their width, R rows that a step reads.
"""

import ctypes
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import torch
from jaxtyping import Float, Float32, Integer
from torch import Tensor

from vanishing_variance.io.compiled import compiled

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

# The rows that a step reads, by name of the table.
Rows = Mapping[str, Integer[Tensor, "S R"]]


class Adam:
    """Steps `weights` in place; their gradients are in `.grad`.

    `tables` are the names of those that are looked up; the rows of them that a batch reads are given for each step. At
    most `steps` steps are made.
    """

    def __init__(
        self,
        weights: Mapping[str, Float[Tensor, "S ..."]],
        tables: Collection[str],
        rate: float,
        decay: float,
        steps: int,
    ) -> None:
        for name in tables:
            weights[name].grad = torch.zeros_like(weights[name])  # made once: large fresh ones are slow (page faults)
        self._tables = {name: _Table(weights[name], rate, decay, steps) for name in tables if _by_rows(weights[name])}
        self._whole = [weights[name] for name in tables if name not in self._tables]
        dense = [tensor for name, tensor in weights.items() if name not in self._tables]
        self._dense = torch.optim.AdamW(
            dense, lr=rate, betas=(BETA1, BETA2), eps=EPSILON, weight_decay=decay, fused=True
        )
        for tensor in dense:  # which torch would do at the first step; but `state` is asked for before
            averages = {name: torch.zeros_like(tensor, requires_grad=False) for name in ("exp_avg", "exp_avg_sq")}
            self._dense.state[tensor] = {"step": torch.zeros((), device=tensor.device), **averages}

    def prepare(self, looked_up: Rows) -> None:
        """Before the forward pass of a step: what it reads is brought up to date."""
        kept = [table.grad for table in self._whole]
        self._dense.zero_grad()
        for whole, gradient in zip(self._whole, kept, strict=True):
            assert gradient is not None
            whole.grad = gradient.zero_()
        for name, table in self._tables.items():
            table.catch_up(looked_up[name])

    def step(self, looked_up: Rows) -> None:
        """After the backward pass: make the step."""
        self._dense.step()
        for name, table in self._tables.items():
            table.step(looked_up[name])

    def finish(self) -> None:
        """Bring every row up to date; steps may go on afterwards."""
        for table in self._tables.values():
            table.catch_up(None)

    def state(self) -> dict[str, Tensor]:
        """All that later steps depend on beside the weights and their number: by name, to be read or copied into."""
        dense = self._dense.state_dict()["state"]
        tables = {f"{name}.{part}": of for name, table in self._tables.items() for part, of in table.state().items()}
        return {f"{place}.{part}": of for place, parts in dense.items() for part, of in parts.items()} | tables

    def made(self, steps: int) -> None:
        """So many steps had been made when `state` was what has been copied into it."""
        for table in self._tables.values():
            table.made = steps


class _Fields(ctypes.Structure):
    """`Tables` of adam.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("seeds", "rows")),
        *((name, ctypes.c_void_p) for name in ("value", "mean", "square", "made", "size", "root")),
        *((name, ctypes.c_float) for name in ("keep", "beta1", "beta2", "new1", "new2", "epsilon")),
    )


class _Table:
    """One large table, stepped by rows."""

    def __init__(self, table: Float32[Tensor, "S C F"], rate: float, decay: float, steps: int) -> None:
        seeds, rows, width = table.shape
        number = torch.arange(steps + 1, dtype=torch.float64)
        size, root = rate / (1 - BETA1**number), (1 - BETA2**number) ** -0.5
        self._table, self.made = table, 0
        self._averages = torch.zeros_like(table), torch.zeros_like(table)
        self._steps = torch.zeros(seeds, rows, dtype=torch.int32), size.float(), root.float()
        arrays = (table, *self._averages, *self._steps)
        self._fields = _Fields(
            seeds,
            rows,
            *(array.data_ptr() for array in arrays),
            1 - rate * decay,
            BETA1,
            BETA2,
            1 - BETA1,
            1 - BETA2,
            EPSILON,
        )
        library = _library(width)
        assert library is not None
        self._library = library

    def catch_up(self, rows: Integer[Tensor, "S R"] | None) -> None:
        """Rows, or all, make the steps that they lack."""
        seeds, classes, _ = self._table.shape
        if rows is None:
            rows = torch.arange(classes).expand(seeds, -1)
        rows = rows.long().contiguous()
        low, high = (int(end) for end in torch.aminmax(rows))
        if len(rows) != seeds or low < 0 or high >= classes:
            raise IndexError(f"rows {low} to {high} for {len(rows)} seeds, of {seeds} tables of {classes} rows")
        self._library.catch_up(self._fields, rows.data_ptr(), rows.shape[1], self.made)

    def step(self, rows: Integer[Tensor, "S R"]) -> None:
        """Rows, which have caught up, make the next step."""
        assert self._table.grad is not None
        assert self.made + 1 < len(self._steps[1]), "more steps than announced"
        rows, self.made = rows.long().contiguous(), self.made + 1
        self._library.make_step(self._fields, rows.data_ptr(), rows.shape[1], self.made, self._table.grad.data_ptr())

    def state(self) -> dict[str, Tensor]:
        """The averages (S, C, F), and the number of steps that each row has made (S, C)."""
        mean, square = self._averages
        return {"mean": mean, "square": square, "steps": self._steps[0]}


def _by_rows(table: Float[Tensor, "S C F"]) -> bool:
    plain = table.device.type == "cpu" and table.dtype == torch.float32 and table.is_contiguous()
    return plain and _library(table.shape[2]) is not None


@cache
def _library(width: int) -> ctypes.CDLL | None:
    made = compiled(Path(__file__).with_name("adam.c"), WIDTH=width)
    if made is not None:
        count, pointer = ctypes.c_int64, ctypes.c_void_p
        made.catch_up.argtypes = [ctypes.POINTER(_Fields), pointer, count, count]
        made.make_step.argtypes = [ctypes.POINTER(_Fields), pointer, count, count, pointer]
        made.catch_up.restype = made.make_step.restype = None
    return made
