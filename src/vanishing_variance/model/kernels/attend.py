"""The compiled form of `attention.attend` (attend.c): for float32 on a CPU that has a C compiler.

S seeds, B sequences, N items, D width.
"""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from vanishing_variance.core.compiled import compiled
from vanishing_variance.model.items import Items

_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64


class _Items(ctypes.Structure):
    """`Items` of attend.c."""

    _fields_ = (
        *((name, _COUNT) for name in ("seeds", "sequences", "items")),
        *(("scale", _POINTER), ("scale_seed", _COUNT)),
        *(("rows", _POINTER), ("rows_seed", _COUNT)),
        *(("row", _POINTER), ("row_seed", _COUNT)),
        *(("table", _POINTER), ("table_seed", _COUNT)),
        *(("index", _POINTER), ("index_seed", _COUNT)),
    )


@cache
def library(width: int) -> ctypes.CDLL | None:
    """The compiled source for models of one width; None where there is no compiler."""
    made = compiled(Path(__file__).with_name("attend.c"), WIDTH=width)
    if made is not None:
        made.attend.argtypes = [ctypes.POINTER(_Items), *[_POINTER] * 5]
        made.attend_gradient.argtypes = [ctypes.POINTER(_Items), *[_POINTER] * 9]
        made.gelu.argtypes = [_COUNT, _POINTER, _POINTER]
        made.attend.restype = made.attend_gradient.restype = made.gelu.restype = None
    return made


def usable(direction: Float[Tensor, "S B D"], items: Items | None = None) -> bool:
    """Return whether the compiled source can do it here; its GELU is the exact one."""
    arrays = [direction] if items is None else [direction, items.table, items.rows]
    arrays += [] if items is None or items.scale is None else [items.scale]
    plain = all(array.device.type == "cpu" and array.dtype == torch.float32 for array in arrays)
    return plain and (items is None or items.gelu == "exact") and library(direction.shape[-1]) is not None


def gelu(x: Float[Tensor, "S B D"], differentiated: bool) -> tuple[Float[Tensor, "S B D"], Tensor | None]:
    """Return the exact GELU, in place of `x`, and its derivative where that is asked for."""
    slope = torch.empty_like(x) if differentiated else None
    _library(x).gelu(x.numel(), x.data_ptr(), None if slope is None else slope.data_ptr())
    return x, slope


def attend(items: Items, direction: Float[Tensor, "S B D"]) -> tuple[Float[Tensor, "S B N"], Float[Tensor, "S B D"]]:
    """What `attention.attend` returns: logits, which have no gradient here, and the average.

    Raises IndexError for an index outside its table, which the compiled source would not notice.
    """
    _within(items.index, items.table)
    if items.row is not None:
        _within(items.row, items.rows)
    average, logits = _Attend.apply(  # type: ignore[no-untyped-call]
        direction, items.table, items.index, items.rows, items.row, items.scale
    )
    return logits, average


class _Attend(torch.autograd.Function):
    """attend.c's two functions."""

    @staticmethod
    def forward(
        ctx: Any,
        direction: Tensor,
        table: Tensor,
        index: Tensor,
        rows: Tensor,
        row: Tensor | None,
        scale: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        direction, row = direction.contiguous(), None if row is None else row.int().contiguous()
        scale = None if scale is None else scale.contiguous()
        items = Items(table.contiguous(), index.int().contiguous(), rows.contiguous(), row, scale)
        average, logits = torch.empty_like(direction), direction.new_empty(*direction.shape[:2], items.index.shape[2])
        peak, total = direction.new_empty(2, *direction.shape[:2])
        _library(direction).attend(_described(items, direction), *_at(direction, average, logits, peak, total))
        ctx.save_for_backward(
            items.table, items.index, items.rows, items.row, items.scale, direction, average, logits, peak, total
        )
        ctx.mark_non_differentiable(logits)
        return average, logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        table, index, rows, row, scale, direction, *results = ctx.saved_tensors
        items, gradient = Items(table, index, rows, row, scale), gradient.contiguous()
        to_direction, to_table, to_rows = torch.empty_like(direction), torch.zeros_like(table), torch.zeros_like(rows)
        _library(direction).attend_gradient(
            _described(items, direction),
            *_at(direction, *results, gradient, to_direction, to_rows, to_table),
        )
        return to_direction, to_table, None, to_rows, None, None


def _library(direction: Tensor) -> ctypes.CDLL:
    made = library(direction.shape[-1])
    assert made is not None
    return made


def _described(items: Items, direction: Tensor) -> Any:
    """Where the arrays are, by reference: the tensors must outlive it."""
    seeds, sequences, _ = direction.shape
    return ctypes.byref(
        _Items(
            *(seeds, sequences, items.index.shape[2]),
            *_shared(items.scale),
            *(items.rows.data_ptr(), items.rows.stride(0)),
            *_shared(items.row),
            *(items.table.data_ptr(), items.table.stride(0)),
            *_shared(items.index),
        )
    )


def _shared(array: Tensor | None) -> tuple[int | None, int]:
    """Where an array with a first axis of S or 1 is, and how far its next seed is."""
    if array is None:
        return None, 0
    return array.data_ptr(), array[0].numel() if len(array) > 1 else 0


def _at(*tensors: Tensor) -> tuple[int, ...]:
    """Where arrays are: named tensors only, since a temporary one is gone before it is read."""
    return tuple(tensor.data_ptr() for tensor in tensors)


def _within(index: Tensor, table: Tensor) -> None:
    low, high = (int(end) for end in torch.aminmax(index))
    if low < 0 or high >= table.shape[1]:
        raise IndexError(f"items numbered {low} to {high}, of a table of {table.shape[1]} rows")
