"""Adam with decoupled weight decay, compiled (compiled_adam.c), for float32 on a CPU that has a C compiler.

S seeds, C rows of a table, F their width, R rows that a step reads.
"""

import ctypes
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import torch
from jaxtyping import Float, Float32, Float64, Integer
from torch import Tensor

from vanishing_variance.engine.kernels.compiled import compiled

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
_COUNT, _POINTER = ctypes.c_int64, ctypes.c_void_p

Weights = Mapping[str, Float[Tensor, "S ..."]]
# The learning rate of each step.
Rates = Float64[Tensor, " steps"]
# The rows that a step reads, by name of the table; a row may be named twice, where its second gradient is 0.
Rows = Mapping[str, Integer[Tensor, "S R"]]


class _CRule(ctypes.Structure):
    """`Rule` of compiled_adam.c."""

    _fields_ = (
        *((name, _POINTER) for name in ("size", "root", "keep")),
        *((name, ctypes.c_float) for name in ("beta1", "beta2", "new1", "new2", "epsilon")),
    )


class _CTable(ctypes.Structure):
    """`Table` of compiled_adam.c."""

    _fields_ = (
        *((name, _COUNT) for name in ("seeds", "rows", "width")),
        *((name, _POINTER) for name in ("value", "mean", "square", "made")),
    )


class CompiledAdam:
    """Lazy Adam: a row of a large table, of which a step reads a few, is stepped when it is next read."""

    def __init__(self, weights: Weights, tables: Collection[str], rates: Rates, decay: float) -> None:
        compiled_source = library()
        assert compiled_source is not None
        self._library, self._steps, self._made = compiled_source, len(rates), 0
        number = torch.arange(1, len(rates) + 1, dtype=torch.float64)
        factors = rates / (1 - BETA1**number), (1 - BETA2**number) ** -0.5, 1 - rates * decay
        # kept, since the rule points at them; by step, which are numbered from 1
        self._factors = [torch.cat((torch.zeros(1), of.float())) for of in factors]
        betas = BETA1, BETA2, 1 - BETA1, 1 - BETA2
        self._rule = _CRule(*(of.data_ptr() for of in self._factors), *betas, EPSILON)
        self._averages = {name: torch.zeros(2, *of.shape) for name, of in weights.items()}
        dense = ((of, *self._averages[name]) for name, of in weights.items() if name not in tables)
        self._dense = [(of[0], [tensor.data_ptr() for tensor in of]) for of in dense]
        self._tables = {name: _Table(weights[name], self._averages[name]) for name in tables}

    def read(self, rows: Rows) -> dict[str, Float[Tensor, "S R F"]]:
        """As `Adam.read`."""
        for tensor, _ in self._dense:
            tensor.grad = None
        for name, table in self._tables.items():
            self._catch_up(table, rows[name])
        return {name: table.read for name, table in self._tables.items()}

    def step(self) -> None:
        """As `Adam.step`."""
        assert self._made < self._steps, "more steps than announced"
        self._made += 1
        for tensor, places in self._dense:
            assert tensor.grad is not None
            gradient = tensor.grad.contiguous()
            self._library.step_whole(self._rule, self._made, tensor.numel(), *places, gradient.data_ptr())
        for table in self._tables.values():
            assert table.read.grad is not None
            gradient = table.read.grad.contiguous()
            wanted = table.rows.data_ptr(), table.rows.shape[1]
            self._library.step_rows(self._rule, table.fields, *wanted, self._made, gradient.data_ptr())

    def finish(self) -> None:
        """As `Adam.finish`."""
        for table in self._tables.values():
            self._catch_up(table, torch.arange(table.fields.rows).expand(table.fields.seeds, -1))

    def state(self) -> dict[str, Tensor]:
        """As `Adam.state`."""
        return self._averages | {f"{name}.steps": table.steps for name, table in self._tables.items()}

    def resume(self, made: int) -> None:
        """As `Adam.resume`."""
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
        self.fields = _CTable(*table.shape, *(of.data_ptr() for of in (table, *averages, self.steps)))


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled source; None where there is no compiler."""
    made = compiled(Path(__file__).with_name("compiled_adam.c"))
    if made is not None:
        rule, table = ctypes.POINTER(_CRule), ctypes.POINTER(_CTable)
        made.step_whole.argtypes = [rule, _COUNT, _COUNT, *[_POINTER] * 4]
        made.catch_up.argtypes = made.step_rows.argtypes = [rule, table, _POINTER, _COUNT, _COUNT, _POINTER]
        made.step_whole.restype = made.catch_up.restype = made.step_rows.restype = None
    return made
