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
from torch.nn.functional import pad

from vanishing_variance.engine.kernels.compiled import COUNT, POINTER, compiled

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

Weights = Mapping[str, Float[Tensor, "S ..."]]
# The learning rate of each step.
Rates = Float64[Tensor, " steps"]
# The rows that a step reads, by name of the table; a row may be named twice, where its second gradient is 0.
Rows = Mapping[str, Integer[Tensor, "S R"]]


class _CRule(ctypes.Structure):
    """`Rule` of compiled_adam.c."""

    _fields_ = (
        *(("size", POINTER), ("root", POINTER), ("keep", POINTER)),
        *(("beta1", ctypes.c_float), ("beta2", ctypes.c_float)),
        *(("new1", ctypes.c_float), ("new2", ctypes.c_float), ("epsilon", ctypes.c_float)),
    )


class _CTable(ctypes.Structure):
    """`Table` of compiled_adam.c."""

    _fields_ = (
        *(("seeds", COUNT), ("rows", COUNT), ("width", COUNT)),
        *(("value", POINTER), ("mean", POINTER), ("square", POINTER), ("completed", POINTER)),
    )


class CompiledAdam:
    """Lazy Adam: a row of a large table, of which a step reads a few, is stepped when it is next read.

    Its methods do what those of `adam.TorchAdam` do.
    """

    def __init__(self, weights: Weights, tables: Collection[str], rates: Rates, decay: float) -> None:
        functions = library()
        assert functions is not None
        self._functions = functions
        self._weights = weights
        self._steps, self._completed = len(rates), 0
        self._rule = _Rule(rates, decay)
        # The averages of the gradient and of its square.
        self._averages = {name: tensor.new_zeros(2, *tensor.shape) for name, tensor in weights.items()}
        self._dense: list[tuple[Tensor, list[int]]] = []
        self._tables: dict[str, _Table] = {}
        for name, tensor in weights.items():
            mean, square = self._averages[name]
            if name in tables:
                self._tables[name] = _Table(tensor, mean, square)
            else:
                addresses = [tensor.data_ptr(), mean.data_ptr(), square.data_ptr()]
                self._dense.append((tensor, addresses))

    def read(self, rows: Rows) -> dict[str, Float[Tensor, "S R F"]]:
        """As `TorchAdam.read`."""
        for tensor, _ in self._dense:
            tensor.grad = None
        for name, table in self._tables.items():
            self._catch_up(table, rows[name])
        return {name: table.read for name, table in self._tables.items()}

    def step(self) -> None:
        """As `TorchAdam.step`."""
        assert self._completed < self._steps, "more steps than announced"
        self._completed += 1
        for tensor, addresses in self._dense:
            gradient = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad.contiguous()
            step = self._rule.fields, self._completed
            self._functions.step_whole(*step, tensor.numel(), *addresses, gradient.data_ptr())
        for table in self._tables.values():
            assert table.read.grad is not None
            gradient = table.read.grad.contiguous()
            self._on_rows("step_rows", table, gradient)

    def finish(self) -> None:
        """As `TorchAdam.finish`."""
        for table in self._tables.values():
            every_row = torch.arange(table.fields.rows).expand(table.fields.seeds, -1)
            self._catch_up(table, every_row)

    def snapshot(self) -> dict[str, Tensor]:
        """As `TorchAdam.snapshot`."""
        copies = {name: tensor.detach().clone() for name, tensor in self._weights.items()}
        for name, table in self._tables.items():
            self._functions.catch_up_copy(self._rule.fields, table.fields, self._completed, copies[name].data_ptr())
        return copies

    def state(self) -> dict[str, Tensor]:
        """As `TorchAdam.state`."""
        completed = {f"{name}.completed": table.completed for name, table in self._tables.items()}
        return self._averages | completed

    def resume(self, completed: int) -> None:
        """As `TorchAdam.resume`."""
        self._completed = completed

    def _catch_up(self, table: "_Table", rows: Integer[Tensor, "S R"]) -> None:
        """Let some rows of a table make the steps that they have not made, and read them."""
        table.rows = rows.long().contiguous()
        table.read = torch.empty(*rows.shape, table.fields.width, dtype=torch.float32)
        self._on_rows("catch_up", table, table.read)
        table.read.requires_grad_()

    def _on_rows(self, name: str, table: "_Table", array: Float32[Tensor, "S R F"]) -> None:
        """Call a function of compiled_adam.c with a table's rows, and an array with a row for each."""
        function = getattr(self._functions, name)
        rows = table.rows.data_ptr(), table.rows.shape[1]
        function(self._rule.fields, table.fields, *rows, self._completed, array.data_ptr())


class _Rule:
    """The factors of every step, from 1; they are kept since the fields point at them."""

    def __init__(self, rates: Rates, decay: float) -> None:
        number = torch.arange(1, len(rates) + 1, dtype=torch.float64)
        size = rates / (1 - BETA1**number)
        root = (1 - BETA2**number) ** -0.5
        keep = 1 - rates * decay
        self._factors = [pad(factor.float(), (1, 0)) for factor in (size, root, keep)]
        addresses = [factor.data_ptr() for factor in self._factors]
        self.fields = _CRule(*addresses, BETA1, BETA2, 1 - BETA1, 1 - BETA2, EPSILON)


class _Table:
    """One large table, with the number of steps that each row has completed, and the rows that a step reads."""

    rows: Integer[Tensor, "S R"]
    read: Float32[Tensor, "S R F"]

    def __init__(
        self, table: Float32[Tensor, "S C F"], mean: Float32[Tensor, "S C F"], square: Float32[Tensor, "S C F"]
    ) -> None:
        self.completed = torch.zeros(*table.shape[:2], dtype=torch.int32)
        addresses = [array.data_ptr() for array in (table, mean, square, self.completed)]
        self.fields = _CTable(*table.shape, *addresses)


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled source; None where there is no compiler."""
    functions = compiled(Path(__file__).with_name("compiled_adam.c"))
    if functions is None:
        return None
    rule, table = ctypes.POINTER(_CRule), ctypes.POINTER(_CTable)
    functions.step_whole.argtypes = [rule, COUNT, COUNT, *[POINTER] * 4]
    functions.catch_up.argtypes = functions.step_rows.argtypes = [rule, table, POINTER, COUNT, COUNT, POINTER]
    functions.catch_up_copy.argtypes = [rule, table, COUNT, POINTER]
    for function in (functions.step_whole, functions.catch_up, functions.step_rows, functions.catch_up_copy):
        function.restype = None
    return functions
