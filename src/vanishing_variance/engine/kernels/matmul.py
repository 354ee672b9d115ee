"""Products of a matrix for each seed: torch's (MKL's) on Intel, compiled (matmul.c) on other processors with AVX-512.

A rule, not a timing, so that a processor always gives the same bits. Measured, one core, 128 x 128: on AMD Zen 5
matmul.c makes 193 GFLOP/s and MKL 94, on Intel Xeon (AVX-512) MKL makes 90 to 190, matmul.c 57 to 132, and the OpenBLAS
that scipy brings 64 to 71.

S seeds, (M, K) and (K, N) the factors of a product.
"""

import ctypes
from functools import cache
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.kernels.compiled import COUNT, POINTER, compiled, in_single_on_cpu, vendor


def matmul(
    left: Float[Tensor, "S M K"], right: Float[Tensor, "S K N"], bias: Float[Tensor, "S N"] | None = None
) -> Float[Tensor, "S M N"]:
    """Return left right + bias for each seed, by what is fastest here; without a gradient (see `engine.linear`)."""
    if library() is not None and in_single_on_cpu(left, right):
        return product(left, right, bias)
    if bias is None:
        return torch.bmm(left, right)
    return torch.baddbmm(bias.unsqueeze(1), left, right)


def product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return what `matmul` returns, by matmul.c. Raises ValueError for shapes that do not fit."""
    functions = _compiled()
    assert functions is not None
    seeds, rows, inner = left.shape
    columns = right.shape[2]
    if right.shape[:2] != (seeds, inner) or (bias is not None and bias.shape != (seeds, columns)):
        raise ValueError(f"shapes do not fit: {tuple(left.shape)}, {tuple(right.shape)}, and the bias")
    result = left.new_empty(seeds, rows, columns)
    bias_address, bias_stride = None, 0
    if bias is not None:
        bias = bias.contiguous()
        bias_address, bias_stride = bias.data_ptr(), bias.stride(0)
    functions.matmul(
        *(seeds, rows, columns, inner),
        *(left.data_ptr(), *left.stride()),
        *(right.data_ptr(), *right.stride()),
        *(bias_address, bias_stride, result.data_ptr()),
    )
    return result


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled source where it is the fastest: with AVX-512, but not on Intel's processors."""
    return None if vendor() == "GenuineIntel" else _compiled()


@cache
def _compiled() -> ctypes.CDLL | None:
    functions = compiled(Path(__file__).with_name("matmul.c"))
    if functions is None or ctypes.c_int.in_dll(functions, "lanes").value == 0:
        return None
    sizes = (COUNT,) * 4
    factor = (POINTER, COUNT, COUNT, COUNT)
    functions.matmul.argtypes = (*sizes, *factor, *factor, POINTER, COUNT, POINTER)
    functions.matmul.restype = None
    return functions
