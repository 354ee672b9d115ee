"""Products of a matrix for each seed: compiled (matmul.c) for processors with AVX-512, else torch's.

S seeds, (M, K) and (K, N) the factors of a product.
"""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from vanishing_variance.io.compiled import compiled


def matmul(
    left: Float[Tensor, "S M K"], right: Float[Tensor, "S K N"], bias: Float[Tensor, "S N"] | None = None
) -> Float[Tensor, "S M N"]:
    """left right + bias for each seed."""
    if all(of.device.type == "cpu" and of.dtype == torch.float32 for of in (left, right)) and _library() is not None:
        product: Tensor = _Matmul.apply(left, right, bias)  # type: ignore[no-untyped-call]
        return product
    return torch.bmm(left, right) if bias is None else torch.baddbmm(bias.unsqueeze(1), left, right)


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(left, right)
        return _product(left, right, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        left, right = ctx.saved_tensors
        to_left, to_right, to_bias = ctx.needs_input_grad
        transposed = right.stride(2) != 1  # the gradient is laid out as the weight is, else autograd copies it
        return (
            _product(gradient, right.mT) if to_left else None,
            (_product(gradient.mT, left).mT if transposed else _product(left.mT, gradient)) if to_right else None,
            gradient.sum(1) if to_bias else None,
        )


def _product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    library, (seeds, rows, inner), columns = _library(), left.shape, right.shape[2]
    assert library is not None
    bias = None if bias is None else bias.contiguous()
    if right.shape[:2] != (seeds, inner) or (bias is not None and bias.shape != (seeds, columns)):
        shapes = [tuple(of.shape) for of in (left, right, bias) if of is not None]
        raise ValueError(f"shapes do not fit: {', '.join(map(str, shapes))}")
    result = left.new_empty(seeds, rows, columns)
    starts = (None, 0) if bias is None else (bias.data_ptr(), bias.stride(0))
    library.matmul(
        *(seeds, rows, columns, inner),
        *(left.data_ptr(), *left.stride()),
        *(right.data_ptr(), *right.stride()),
        *(*starts, result.data_ptr()),
    )
    return result


@cache
def _library() -> ctypes.CDLL | None:
    made = compiled(Path(__file__).with_name("matmul.c"))
    if made is None or not ctypes.c_int.in_dll(made, "lanes").value:
        return None
    count, pointer = ctypes.c_int64, ctypes.c_void_p
    sizes, factor = (count,) * 4, (pointer, count, count, count)
    made.matmul.argtypes = (*sizes, *factor, *factor, pointer, count, pointer)
    made.matmul.restype = None
    return made
