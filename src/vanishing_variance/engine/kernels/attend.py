"""The compiled forms of `engine.attention` (attend.c): for float32 on a CPU that has a C compiler.

S seeds, B sequences, N items, D width.
"""

import ctypes
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from vanishing_variance.engine.items import Items
from vanishing_variance.engine.kernels.compiled import COUNT, POINTER, compiled, in_single_on_cpu


class _Items(ctypes.Structure):
    """`Items` of attend.c."""

    _fields_ = (
        *((name, COUNT) for name in ("seeds", "sequences", "items")),
        *(("scale", POINTER), ("scale_seed", COUNT)),
        *(("base", POINTER), ("base_seed", COUNT)),
        *(("base_index", POINTER), ("base_index_seed", COUNT)),
        *(("embedding", POINTER), ("embedding_seed", COUNT)),
        *(("embedding_index", POINTER), ("embedding_index_seed", COUNT)),
    )


# How many arrays each function of attend.c takes beside the items.
_ARRAYS = {"attend": 5, "attend_gradient": 9, "products": 2, "weighted_sum": 2, "bilinear_gradient": 6}


@cache
def library(width: int, gelu: bool = True) -> ctypes.CDLL | None:
    """Return the compiled source for hidden layers of one width, with or without GELU; None without a compiler."""
    definitions = {"WIDTH": width} if gelu else {"WIDTH": width, "LINEAR": 1}
    functions = compiled(Path(__file__).with_name("attend.c"), **definitions)
    if functions is None:
        return None
    for name, arrays in _ARRAYS.items():
        function = getattr(functions, name)
        function.argtypes = [ctypes.POINTER(_Items), *[POINTER] * arrays]
        function.restype = None
    functions.gelu.argtypes = [COUNT, POINTER, POINTER]
    functions.gelu.restype = None
    return functions


def usable(x: Float[Tensor, "S B _"], items: Items | None = None) -> bool:
    """Return whether the compiled source can do it here: GELU of `x`, or attention of `items`."""
    if items is None:
        return in_single_on_cpu(x) and library(x.shape[-1]) is not None
    if type(items) is not Items:  # a subclass has a hidden layer of its own
        return False
    scale = [] if items.scale is None else [items.scale]
    width = items.embedding.shape[-1]
    return in_single_on_cpu(x, items.embedding, items.base, *scale) and library(width, items.gelu) is not None


def gelu(x: Float[Tensor, "S B D"], with_slope: bool) -> tuple[Float[Tensor, "S B D"], Tensor | None]:
    """Return GELU, in place of `x`, and its derivative where that is asked for."""
    functions = library(x.shape[-1])
    assert functions is not None
    slope = torch.empty_like(x) if with_slope else None
    functions.gelu(x.numel(), x.data_ptr(), None if slope is None else slope.data_ptr())
    return x, slope


def attend(items: Items, folded_query: Float[Tensor, "S B D"]) -> tuple[Float[Tensor, "S B N"], Float[Tensor, "S B D"]]:
    """Return what `attention.attend` does: logits, which have no gradient here, and the context.

    Raises IndexError for an index outside its table, which the compiled source would not notice.
    """
    items = _prepared(items)
    context, logits = _Attend.apply(folded_query, items.embedding, items.base, items)  # type: ignore[no-untyped-call]
    return logits, context


def products(items: Items, folded_query: Float[Tensor, "S B D"]) -> Float[Tensor, "S B N"]:
    """Return h . folded_query of each item, differentiable. Raises IndexError as `attend` does."""
    return _bilinear("products", folded_query, _prepared(items))


def weighted_sum(items: Items, weights: Float[Tensor, "S B N"]) -> Float[Tensor, "S B D"]:
    """Return the sum of weight times h over the items, differentiable. Raises IndexError as `attend` does."""
    return _bilinear("weighted_sum", weights, _prepared(items))


class _Attend(torch.autograd.Function):
    """`attend` and `attend_gradient`; autograd follows tensors alone, so embedding and base stand beside the items."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, embedding: Tensor, base: Tensor, items: Items) -> tuple[Tensor, Tensor]:
        query = query.contiguous()
        context = torch.empty_like(query)
        logits = query.new_empty(*query.shape[:2], items.embedding_index.shape[2])
        peak, total = query.new_empty(2, *query.shape[:2])
        _call("attend", items, query, context, logits, peak, total)
        ctx.items = items
        ctx.save_for_backward(query, context, logits, peak, total)
        ctx.mark_non_differentiable(logits)
        return context, logits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        query = ctx.saved_tensors[0]
        to_query = torch.empty_like(query)
        to_embedding, to_base = torch.zeros_like(ctx.items.embedding), torch.zeros_like(ctx.items.base)
        results = (gradient.contiguous(), to_query, to_base, to_embedding)
        _call("attend_gradient", ctx.items, *ctx.saved_tensors, *results)
        return to_query, to_embedding, to_base, None


class _Bilinear(torch.autograd.Function):
    """`products` or `weighted_sum`: sum_n weight_n (query . h_n) as a function of the query, or of the weights."""

    @staticmethod
    def forward(ctx: Any, name: str, x: Tensor, embedding: Tensor, base: Tensor, items: Items) -> Tensor:
        x = x.contiguous()
        size = items.embedding_index.shape[2] if name == "products" else embedding.shape[2]
        result = x.new_empty(*x.shape[:2], size)
        _call(name, items, x, result)
        ctx.name, ctx.items = name, items
        ctx.save_for_backward(x)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        [x] = ctx.saved_tensors
        weights, query = (gradient.contiguous(), x) if ctx.name == "products" else (x, gradient.contiguous())
        to_weights, to_query = torch.empty_like(weights), torch.empty_like(query)
        to_embedding, to_base = torch.zeros_like(ctx.items.embedding), torch.zeros_like(ctx.items.base)
        _call("bilinear_gradient", ctx.items, weights, query, to_weights, to_query, to_base, to_embedding)
        return None, to_query if ctx.name == "products" else to_weights, to_embedding, to_base, None


def _bilinear(name: str, x: Tensor, items: Items) -> Tensor:
    result: Tensor = _Bilinear.apply(name, x, items.embedding, items.base, items)  # type: ignore[no-untyped-call]
    return result


def _prepared(items: Items) -> Items:
    """Return items as attend.c reads them. Raises IndexError for an index outside its table."""
    _check_index(items.embedding_index, items.embedding)
    if items.base_index is not None:
        _check_index(items.base_index, items.base)
    return replace(
        items,
        embedding=items.embedding.contiguous(),
        embedding_index=items.embedding_index.int().contiguous(),
        base=items.base.contiguous(),
        base_index=None if items.base_index is None else items.base_index.int().contiguous(),
        scale=None if items.scale is None else items.scale.contiguous(),
    )


def _check_index(index: Tensor, table: Tensor) -> None:
    low, high = (int(end) for end in torch.aminmax(index))
    if low < 0 or high >= table.shape[1]:
        raise IndexError(f"items numbered {low} to {high}, of a table of {table.shape[1]} rows")


def _call(name: str, items: Items, *arrays: Tensor) -> None:
    """Call a function of attend.c with items and contiguous arrays, some of which it fills."""
    functions = library(items.embedding.shape[-1], items.gelu)
    assert functions is not None
    described = _Items(
        *(len(items.embedding), *items.embedding_index.shape[1:]),
        *_address_and_stride(items.scale),
        *(items.base.data_ptr(), items.base.stride(0)),
        *_address_and_stride(items.base_index),
        *(items.embedding.data_ptr(), items.embedding.stride(0)),
        *_address_and_stride(items.embedding_index),
    )
    getattr(functions, name)(described, *(array.data_ptr() for array in arrays))


def _address_and_stride(array: Tensor | None) -> tuple[int | None, int]:
    """Return where an array (#S, B, N) is, and how far the next seed's part: 0 where all seeds share it."""
    if array is None:
        return None, 0
    return array.data_ptr(), 0 if len(array) == 1 else array.stride(0)
