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
        *(("base", _POINTER), ("base_seed", _COUNT)),
        *(("base_index", _POINTER), ("base_index_seed", _COUNT)),
        *(("embedding", _POINTER), ("embedding_seed", _COUNT)),
        *(("embedding_index", _POINTER), ("embedding_index_seed", _COUNT)),
    )


@cache
def library(width: int) -> ctypes.CDLL | None:
    """Return the compiled source for models of one width; None where there is no compiler."""
    made = compiled(Path(__file__).with_name("attend.c"), WIDTH=width)
    if made is not None:
        made.attend.argtypes = [ctypes.POINTER(_Items), *[_POINTER] * 5]
        made.attend_gradient.argtypes = [ctypes.POINTER(_Items), *[_POINTER] * 9]
        made.gelu.argtypes = [_COUNT, _POINTER, _POINTER]
        made.attend.restype = made.attend_gradient.restype = made.gelu.restype = None
    return made


def usable(folded_query: Float[Tensor, "S B D"], items: Items | None = None) -> bool:
    """Return whether the compiled source can do it here; its GELU is the exact one."""
    arrays = [folded_query] if items is None else [folded_query, items.embedding, items.base]
    arrays += [] if items is None or items.scale is None else [items.scale]
    plain = all(array.device.type == "cpu" and array.dtype == torch.float32 for array in arrays)
    return plain and (items is None or items.gelu == "exact") and library(folded_query.shape[-1]) is not None


def gelu(x: Float[Tensor, "S B D"], differentiated: bool) -> tuple[Float[Tensor, "S B D"], Tensor | None]:
    """Return the exact GELU, in place of `x`, and its derivative where that is asked for."""
    slope = torch.empty_like(x) if differentiated else None
    _library(x).gelu(x.numel(), x.data_ptr(), None if slope is None else slope.data_ptr())
    return x, slope


def attend(items: Items, folded_query: Float[Tensor, "S B D"]) -> tuple[Float[Tensor, "S B N"], Float[Tensor, "S B D"]]:
    """Return what `attention.attend` does: logits, which have no gradient here, and the context.

    Raises IndexError for an index outside its table, which the compiled source would not notice.
    """
    _within(items.embedding_index, items.embedding)
    if items.base_index is not None:
        _within(items.base_index, items.base)
    context, logits = _Attend.apply(  # type: ignore[no-untyped-call]
        folded_query, items.embedding, items.embedding_index, items.base, items.base_index, items.scale
    )
    return logits, context


class _Attend(torch.autograd.Function):
    """attend.c's two functions."""

    @staticmethod
    def forward(
        ctx: Any,
        folded_query: Tensor,
        embedding: Tensor,
        embedding_index: Tensor,
        base: Tensor,
        base_index: Tensor | None,
        scale: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        query, embedding, base = folded_query.contiguous(), embedding.contiguous(), base.contiguous()
        embedding_index = embedding_index.int().contiguous()
        base_index = None if base_index is None else base_index.int().contiguous()
        scale = None if scale is None else scale.contiguous()
        items = Items(embedding, embedding_index, base, base_index, scale)
        context, logits = torch.empty_like(query), query.new_empty(*query.shape[:2], embedding_index.shape[2])
        peak, total = query.new_empty(2, *query.shape[:2])
        _library(query).attend(_described(items, query), *_at(query, context, logits, peak, total))
        ctx.save_for_backward(embedding, embedding_index, base, base_index, scale, query, context, logits, peak, total)
        ctx.mark_non_differentiable(logits)
        return context, logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        embedding, embedding_index, base, base_index, scale, folded_query, *results = ctx.saved_tensors
        items, gradient = Items(embedding, embedding_index, base, base_index, scale), gradient.contiguous()
        to_query, to_embedding, to_base = (
            torch.empty_like(folded_query),
            torch.zeros_like(embedding),
            torch.zeros_like(base),
        )
        _library(folded_query).attend_gradient(
            _described(items, folded_query),
            *_at(folded_query, *results, gradient, to_query, to_base, to_embedding),
        )
        return to_query, to_embedding, None, to_base, None, None


def _library(folded_query: Tensor) -> ctypes.CDLL:
    made = library(folded_query.shape[-1])
    assert made is not None
    return made


def _described(items: Items, folded_query: Tensor) -> Any:
    """Return where the arrays are, by reference: the tensors must outlive it."""
    seeds, sequences, _ = folded_query.shape
    return ctypes.byref(
        _Items(
            *(seeds, sequences, items.embedding_index.shape[2]),
            *_shared(items.scale),
            *(items.base.data_ptr(), items.base.stride(0)),
            *_shared(items.base_index),
            *(items.embedding.data_ptr(), items.embedding.stride(0)),
            *_shared(items.embedding_index),
        )
    )


def _shared(array: Tensor | None) -> tuple[int | None, int]:
    """Return where an array with a first axis of S or 1 is, and how far its next seed is."""
    if array is None:
        return None, 0
    return array.data_ptr(), array[0].numel() if len(array) > 1 else 0


def _at(*tensors: Tensor) -> tuple[int, ...]:
    """Return where arrays are: named tensors only, since a temporary one is gone before it is read."""
    return tuple(tensor.data_ptr() for tensor in tensors)


def _within(index: Tensor, table: Tensor) -> None:
    low, high = (int(end) for end in torch.aminmax(index))
    if low < 0 or high >= table.shape[1]:
        raise IndexError(f"items numbered {low} to {high}, of a table of {table.shape[1]} rows")
