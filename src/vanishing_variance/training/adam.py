"""Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019) for an ensemble.

Compiled (adam.c) for float32 on a CPU that has a C compiler: large tables of which a step reads a few rows are stepped
row by row, when a row is next read. Else torch's fused AdamW steps everything as a whole.

S seeds, C rows of a table, F their width, R rows that a step reads.
"""

import ctypes
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Float32, Integer
from torch import Tensor

from vanishing_variance.core.compiled import compiled

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
_COUNT, _POINTER = ctypes.c_int64, ctypes.c_void_p

Weights = Mapping[str, Float[Tensor, "S ..."]]
# The rows that a step reads, by name of the table; a row may be named twice, where its second gradient is 0.
Rows = Mapping[str, Integer[Tensor, "S R"]]


@runtime_checkable
class Adam(Protocol):
    """Steps weights in place, each by its `.grad`; of some tables a step reads a few rows."""

    def read(self, rows: Rows) -> dict[str, Float[Tensor, "S R F"]]:
        """Return the rows that the next step reads, up to date and to be differentiated, by name of the table."""

    def step(self) -> None:
        """Make the step, after the backward pass."""

    def finish(self) -> None:
        """Bring every row up to date; steps may go on afterwards."""

    def state(self) -> dict[str, Tensor]:
        """Return all that later steps depend on beside weights and their number: by name, to be read or copied into."""

    def resume(self, made: int) -> None:
        """Go on after so many steps, those that `state` holds."""


def adam(weights: Weights, tables: Collection[str], rate: float, decay: float, steps: int) -> Adam:
    """Return an Adam of `weights`; `tables` names those of which a step reads a few rows. At most `steps` steps."""
    plain = all(of.device.type == "cpu" and of.dtype == torch.float32 and of.is_contiguous() for of in weights.values())
    kind = _ByRows if plain and _library() is not None else _Whole
    return kind(weights, tables, rate, decay, steps)


class _Rule(ctypes.Structure):
    """`Rule` of adam.c."""

    _fields_ = (
        *((name, _POINTER) for name in ("size", "root")),
        *((name, ctypes.c_float) for name in ("keep", "beta1", "beta2", "new1", "new2", "epsilon")),
    )


class _Fields(ctypes.Structure):
    """`Table` of adam.c."""

    _fields_ = (
        *((name, _COUNT) for name in ("seeds", "rows", "width")),
        *((name, _POINTER) for name in ("value", "mean", "square", "made")),
    )


class _ByRows:
    """The compiled form."""

    def __init__(self, weights: Weights, tables: Collection[str], rate: float, decay: float, steps: int) -> None:
        library = _library()
        assert library is not None
        self._library, self._steps, self._made = library, steps, 0
        number = torch.arange(steps + 1, dtype=torch.float64)
        # kept, since the rule points at them
        self._factors = (rate / (1 - BETA1**number)).float(), ((1 - BETA2**number) ** -0.5).float()
        betas = BETA1, BETA2, 1 - BETA1, 1 - BETA2
        self._rule = _Rule(*(of.data_ptr() for of in self._factors), 1 - rate * decay, *betas, EPSILON)
        self._averages = {name: torch.zeros(2, *of.shape) for name, of in weights.items()}
        self._dense = {name: of for name, of in weights.items() if name not in tables}
        self._tables = {name: _Table(weights[name], self._averages[name]) for name in tables}

    def read(self, rows: Rows) -> dict[str, Float[Tensor, "S R F"]]:
        for tensor in self._dense.values():
            tensor.grad = None
        for name, table in self._tables.items():
            self._catch_up(table, rows[name])
        return {name: table.read for name, table in self._tables.items()}

    def step(self) -> None:
        assert self._made < self._steps, "more steps than announced"
        self._made += 1
        for name, tensor in self._dense.items():
            assert tensor.grad is not None
            gradient, (mean, square) = tensor.grad.contiguous(), self._averages[name]
            at = (of.data_ptr() for of in (tensor, mean, square, gradient))
            self._library.step_whole(self._rule, self._made, tensor.numel(), *at)
        for table in self._tables.values():
            assert table.read.grad is not None
            gradient = table.read.grad.contiguous()
            wanted = table.rows.data_ptr(), table.rows.shape[1]
            self._library.step_rows(self._rule, table.fields, *wanted, self._made, gradient.data_ptr())

    def finish(self) -> None:
        for table in self._tables.values():
            self._catch_up(table, torch.arange(table.fields.rows).expand(table.fields.seeds, -1))

    def state(self) -> dict[str, Tensor]:
        return self._averages | {f"{name}.steps": table.steps for name, table in self._tables.items()}

    def resume(self, made: int) -> None:
        self._made = made

    def _catch_up(self, table: "_Table", rows: Integer[Tensor, "S R"]) -> None:
        fields, low, high = table.fields, *(int(end) for end in torch.aminmax(rows))
        if len(rows) != fields.seeds or low < 0 or high >= fields.rows:
            of = f"{fields.seeds} tables of {fields.rows} rows"
            raise IndexError(f"rows {low} to {high} for {len(rows)} seeds, of {of}")
        table.rows, table.read = rows.long().contiguous(), torch.empty(*rows.shape, fields.width)
        wanted = table.rows.data_ptr(), rows.shape[1]
        self._library.catch_up(self._rule, fields, *wanted, self._made, table.read.data_ptr())
        table.read.requires_grad_()


class _Table:
    """One large table, with the number of steps that each row has made, and the rows that a step reads."""

    rows: Integer[Tensor, "S R"]
    read: Float32[Tensor, "S R F"]

    def __init__(self, table: Float32[Tensor, "S C F"], averages: Float32[Tensor, "2 S C F"]) -> None:
        self.steps = torch.zeros(*table.shape[:2], dtype=torch.int32)
        self.fields = _Fields(*table.shape, *(of.data_ptr() for of in (table, *averages, self.steps)))


class _Whole:
    """torch's form; a table's gradient, allocated once, is 0 but for the rows that were read."""

    def __init__(self, weights: Weights, tables: Collection[str], rate: float, decay: float, steps: int) -> None:
        self._weights, self._read = weights, dict[str, Tensor]()
        self._tables = {name: weights[name] for name in tables}
        self._rows = {name: torch.empty(0, dtype=torch.long, device=of.device) for name, of in self._tables.items()}
        for table in self._tables.values():
            table.grad = torch.zeros_like(table)
        betas = (BETA1, BETA2)
        parameters = list(weights.values())
        self._adam = torch.optim.AdamW(parameters, lr=rate, betas=betas, eps=EPSILON, weight_decay=decay, fused=True)
        for tensor in parameters:  # as torch would at the first step; but `state` is asked for before
            averages = {name: torch.zeros_like(tensor, requires_grad=False) for name in ("exp_avg", "exp_avg_sq")}
            self._adam.state[tensor] = {"step": torch.zeros((), device=tensor.device), **averages}

    def read(self, rows: Rows) -> dict[str, Float[Tensor, "S R F"]]:
        for name, tensor in self._weights.items():
            if name not in self._tables:
                tensor.grad = None
        for name, table in self._tables.items():
            _flat_gradient(table).index_fill_(0, self._rows[name], 0.0)
            seeds, classes, _ = table.shape
            offset = torch.arange(seeds, device=table.device).mul(classes).unsqueeze(1)
            self._rows[name] = (rows[name] + offset).flatten()
            read = table.detach().flatten(0, 1)[self._rows[name]].unflatten(0, rows[name].shape)
            self._read[name] = read.requires_grad_()
        return self._read

    def step(self) -> None:
        for name, read in self._read.items():
            assert read.grad is not None
            _flat_gradient(self._tables[name]).index_add_(0, self._rows[name], read.grad.flatten(0, 1))
        self._adam.step()

    def finish(self) -> None:
        """No row lags behind."""

    def state(self) -> dict[str, Tensor]:
        parts = self._adam.state_dict()["state"]
        return {f"{place}.{part}": of for place, named in parts.items() for part, of in named.items()}

    def resume(self, made: int) -> None:
        """Torch's state has the number of steps."""


def _flat_gradient(table: Float[Tensor, "S C F"]) -> Float[Tensor, "SC F"]:
    assert table.grad is not None
    return table.grad.flatten(0, 1)


@cache
def _library() -> ctypes.CDLL | None:
    made = compiled(Path(__file__).with_name("adam.c"))
    if made is not None:
        rule, table = ctypes.POINTER(_Rule), ctypes.POINTER(_Fields)
        made.step_whole.argtypes = [rule, _COUNT, _COUNT, *[_POINTER] * 4]
        made.catch_up.argtypes = made.step_rows.argtypes = [rule, table, _POINTER, _COUNT, _COUNT, _POINTER]
        made.step_whole.restype = made.catch_up.restype = made.step_rows.restype = None
    return made
