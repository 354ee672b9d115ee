"""The compiled forms of `engine.attend` (attend.c): for float32 on a CPU that has a C compiler.

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
    """`Items` of attend.c: each array, and how far the next seed's part is, 0 where all seeds share it."""

    _fields_ = (
        *(("seeds", COUNT), ("sequences", COUNT), ("items", COUNT)),
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
    definitions = {"WIDTH": width} if gelu else {"WIDTH": width, "NO_GELU": 1}
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
    arrays = [x, items.embedding, items.base]
    if items.scale is not None:
        arrays.append(items.scale)
    width = items.embedding.shape[-1]
    return in_single_on_cpu(*arrays) and library(width, items.gelu) is not None


def gelu(x: Float[Tensor, "S B D"], with_slope: bool) -> tuple[Float[Tensor, "S B D"], Tensor | None]:
    """Return GELU, in place of `x`, and its derivative where that is asked for."""
    functions = library(x.shape[-1])
    assert functions is not None
    slope = torch.empty_like(x) if with_slope else None
    functions.gelu(x.numel(), x.data_ptr(), None if slope is None else slope.data_ptr())
    return x, slope


def attend(items: Items, folded_query: Float[Tensor, "S B D"]) -> tuple[Float[Tensor, "S B N"], Float[Tensor, "S B D"]]:
    """Return what `engine.attend.attend` does: logits, which have no gradient here, and the context.

    Raises IndexError for an index outside its table, which the compiled source would not notice.
    """
    items = _prepared(items)
    context, logits = _Attend.apply(folded_query, items.embedding, items.base, items)  # type: ignore[no-untyped-call]
    return logits, context


def products(items: Items, folded_query: Float[Tensor, "S B D"]) -> Float[Tensor, "S B N"]:
    """Return h . folded_query of each item, differentiable. Raises IndexError as `attend` does."""
    return _bilinear("products", folded_query, items)


def weighted_sum(items: Items, weights: Float[Tensor, "S B N"]) -> Float[Tensor, "S B D"]:
    """Return the sum of weight times h over the items, differentiable. Raises IndexError as `attend` does."""
    return _bilinear("weighted_sum", weights, items)


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
        to_query = torch.empty_like(gradient, memory_format=torch.contiguous_format)
        to_base = torch.zeros_like(ctx.items.base)
        to_embedding = torch.zeros_like(ctx.items.embedding)
        results = to_query, to_base, to_embedding
        _call("attend_gradient", ctx.items, *ctx.saved_tensors, gradient.contiguous(), *results)
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
        gradient = gradient.contiguous()
        to_x, to_gradient = torch.empty_like(x), torch.empty_like(gradient)
        to_base = torch.zeros_like(ctx.items.base)
        to_embedding = torch.zeros_like(ctx.items.embedding)
        if ctx.name == "products":
            weights_and_query = gradient, x, to_gradient, to_x
        else:
            weights_and_query = x, gradient, to_x, to_gradient
        _call("bilinear_gradient", ctx.items, *weights_and_query, to_base, to_embedding)
        return None, to_x, to_embedding, to_base, None


def _bilinear(name: str, x: Tensor, items: Items) -> Tensor:
    items = _prepared(items)
    result: Tensor = _Bilinear.apply(name, x, items.embedding, items.base, items)  # type: ignore[no-untyped-call]
    return result


def _prepared(items: Items) -> Items:
    """Return items as attend.c reads them. Raises IndexError for an index outside its table."""
    _check_index(items.embedding_index, items.embedding)
    if items.base_index is not None:
        _check_index(items.base_index, items.base)
    items = items.select(lambda array: array.contiguous() if array.is_floating_point() else array.int().contiguous())
    return replace(items, embedding=items.embedding.contiguous(), base=items.base.contiguous())


def _check_index(index: Tensor, table: Tensor) -> None:
    low, high = map(int, torch.aminmax(index))  # as numbers: int16 does not hold 2^15, the rows of a table
    num_rows = table.shape[1]
    if low < 0 or high >= num_rows:
        raise IndexError(f"items numbered {low} to {high}, of a table of {num_rows} rows")


def _call(name: str, items: Items, *arrays: Tensor) -> None:
    """Call a function of attend.c with items and contiguous arrays, some of which it fills."""
    functions = library(items.embedding.shape[-1], items.gelu)
    assert functions is not None
    described = _Items(len(items.embedding), *items.embedding_index.shape[1:])
    for field in ("scale", "base", "base_index", "embedding", "embedding_index"):
        array = getattr(items, field)
        if array is not None:
            setattr(described, field, array.data_ptr())
            setattr(described, f"{field}_seed", 0 if len(array) == 1 else array.stride(0))
    addresses = [array.data_ptr() for array in arrays]
    getattr(functions, name)(described, *addresses)
