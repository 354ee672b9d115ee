"""The compiled forms of `model.attention` (attend.c): for float32 on a CPU that has a C compiler.

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

from vanishing_variance.engine.items import Items
from vanishing_variance.engine.kernels.compiled import compiled

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


# How many arrays each function of attend.c takes beside the items.
_ARRAYS = {"attend": 5, "attend_gradient": 9, "products": 2, "weighted_sum": 2, "bilinear_gradient": 6}


@cache
def library(width: int, linear: bool = False) -> ctypes.CDLL | None:
    """Return the compiled source for hidden layers of one width, `linear` without GELU; None without a compiler."""
    made = compiled(Path(__file__).with_name("attend.c"), WIDTH=width, **({"LINEAR": 1} if linear else {}))
    if made is not None:
        for name, arrays in _ARRAYS.items():
            function = getattr(made, name)
            function.argtypes, function.restype = [ctypes.POINTER(_Items), *[_POINTER] * arrays], None
        made.gelu.argtypes, made.gelu.restype = [_COUNT, _POINTER, _POINTER], None
    return made


def usable(x: Float[Tensor, "S B _"], items: Items | None = None) -> bool:
    """Return whether the compiled source can do it here; its GELU is the exact one, or none."""
    arrays = [x] if items is None else [x, items.embedding, items.base]
    arrays += [] if items is None or items.scale is None else [items.scale]
    plain = all(array.device.type == "cpu" and array.dtype == torch.float32 for array in arrays)
    form, width = ("exact", x.shape[-1]) if items is None else (items.gelu, items.embedding.shape[-1])
    return plain and form in ("exact", "none") and library(width, form == "none") is not None


def gelu(x: Float[Tensor, "S B D"], differentiated: bool) -> tuple[Float[Tensor, "S B D"], Tensor | None]:
    """Return the exact GELU, in place of `x`, and its derivative where that is asked for."""
    slope = torch.empty_like(x) if differentiated else None
    _library(x).gelu(x.numel(), x.data_ptr(), None if slope is None else slope.data_ptr())
    return x, slope


def attend(items: Items, folded_query: Float[Tensor, "S B D"]) -> tuple[Float[Tensor, "S B N"], Float[Tensor, "S B D"]]:
    """Return what `attention.attend` does: logits, which have no gradient here, and the context.

    Raises IndexError for an index outside its table, which the compiled source would not notice.
    """
    context, logits = _Attend.apply(folded_query, *_arrays(items))  # type: ignore[no-untyped-call]
    return logits, context


def products(items: Items, folded_query: Float[Tensor, "S B D"]) -> Float[Tensor, "S B N"]:
    """Return h . folded_query of each item, differentiable. Raises IndexError as `attend` does."""
    logits: Tensor = _Products.apply(folded_query, *_arrays(items))  # type: ignore[no-untyped-call]
    return logits


def weighted_sum(items: Items, weights: Float[Tensor, "S B N"]) -> Float[Tensor, "S B D"]:
    """Return the sum of weight times h over the items, differentiable. Raises IndexError as `attend` does."""
    context: Tensor = _WeightedSum.apply(weights, *_arrays(items))  # type: ignore[no-untyped-call]
    return context


class _Attend(torch.autograd.Function):
    """`attend` and `attend_gradient`."""

    @staticmethod
    def forward(ctx: Any, folded_query: Tensor, *arrays: Any) -> tuple[Tensor, Tensor]:
        query, (items, tensors) = folded_query.contiguous(), _contiguous(*arrays)
        context, logits = torch.empty_like(query), query.new_empty(*query.shape[:2], items.embedding_index.shape[2])
        peak, total = query.new_empty(2, *query.shape[:2])
        _library(items).attend(_described(items, query), *_at(query, context, logits, peak, total))
        ctx.save_for_backward(*tensors, query, context, logits, peak, total)
        ctx.gelu = items.gelu
        ctx.mark_non_differentiable(logits)
        return context, logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        items, (query, *results) = _restored(ctx)
        to_query, to_base, to_embedding = torch.empty_like(query), *_zeros(items)
        gradient = gradient.contiguous()
        at = _at(query, *results, gradient, to_query, to_base, to_embedding)
        _library(items).attend_gradient(_described(items, query), *at)
        return to_query, to_embedding, None, to_base, None, None, None


class _Products(torch.autograd.Function):
    """`products`, and the bilinear form's gradient with the logits' gradient as weights."""

    @staticmethod
    def forward(ctx: Any, folded_query: Tensor, *arrays: Any) -> Tensor:
        query, (items, tensors) = folded_query.contiguous(), _contiguous(*arrays)
        logits = query.new_empty(*query.shape[:2], items.embedding_index.shape[2])
        _library(items).products(_described(items, query), *_at(query, logits))
        ctx.save_for_backward(*tensors, query)
        ctx.gelu = items.gelu
        return logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        items, (query,) = _restored(ctx)
        _, to_query, to_base, to_embedding = _bilinear_gradient(items, gradient, query)
        return to_query, to_embedding, None, to_base, None, None, None


class _WeightedSum(torch.autograd.Function):
    """`weighted_sum`, and the bilinear form's gradient with the context's gradient as vector."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, *arrays: Any) -> Tensor:
        weights, (items, tensors) = weights.contiguous(), _contiguous(*arrays)
        context = weights.new_empty(*weights.shape[:2], items.embedding.shape[2])
        _library(items).weighted_sum(_described(items, weights), *_at(weights, context))
        ctx.save_for_backward(*tensors, weights)
        ctx.gelu = items.gelu
        return context

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        items, (weights,) = _restored(ctx)
        to_weights, _, to_base, to_embedding = _bilinear_gradient(items, weights, gradient)
        return to_weights, to_embedding, None, to_base, None, None, None


def _bilinear_gradient(items: Items, weights: Tensor, vector: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    weights, vector = weights.contiguous(), vector.contiguous()
    found = torch.empty_like(weights), torch.empty_like(vector), *_zeros(items)
    _library(items).bilinear_gradient(_described(items, vector), *_at(weights, vector, *found))
    return found


def _arrays(items: Items) -> tuple[Any, ...]:
    """Return what an autograd function takes of items, in the order of `Items`."""
    _within(items.embedding_index, items.embedding)
    if items.base_index is not None:
        _within(items.base_index, items.base)
    return items.embedding, items.embedding_index, items.base, items.base_index, items.scale, items.gelu


def _contiguous(
    embedding: Tensor,
    embedding_index: Tensor,
    base: Tensor,
    base_index: Tensor | None,
    scale: Tensor | None,
    gelu: str,
) -> tuple[Items, tuple[Tensor | None, ...]]:
    """Return items as attend.c reads them, and their tensors."""
    tables = embedding.contiguous(), embedding_index.int().contiguous(), base.contiguous()
    base_index = None if base_index is None else base_index.int().contiguous()
    scale = None if scale is None else scale.contiguous()
    return Items(*tables, base_index, scale, gelu), (*tables, base_index, scale)


def _restored(ctx: Any) -> tuple[Items, tuple[Tensor, ...]]:
    """Return the items that a forward pass saved, and what it saved after them."""
    embedding, embedding_index, base, base_index, scale, *others = ctx.saved_tensors
    return Items(embedding, embedding_index, base, base_index, scale, ctx.gelu), tuple(others)


def _zeros(items: Items) -> tuple[Tensor, Tensor]:
    """Return where the gradients of base and embedding are added up."""
    return torch.zeros_like(items.base), torch.zeros_like(items.embedding)


def _library(x: Items | Tensor) -> ctypes.CDLL:
    width, linear = (x.embedding.shape[-1], x.gelu == "none") if isinstance(x, Items) else (x.shape[-1], False)
    made = library(width, linear)
    assert made is not None
    return made


def _described(items: Items, like: Tensor) -> Any:
    """Return where the arrays are, by reference: the tensors must outlive it. `like` has a row a seed and sequence."""
    seeds, sequences, _ = like.shape
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
