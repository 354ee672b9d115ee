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

from vanishing_variance.engine.kernels.compiled import compiled, vendor


def matmul(
    left: Float[Tensor, "S M K"], right: Float[Tensor, "S K N"], bias: Float[Tensor, "S N"] | None = None
) -> Float[Tensor, "S M N"]:
    """Return left right + bias for each seed, by what is fastest here; without a gradient (see `model.linear`)."""
    if library() is not None and all(of.device.type == "cpu" and of.dtype == torch.float32 for of in (left, right)):
        return product(left, right, bias)
    return torch.bmm(left, right) if bias is None else torch.baddbmm(bias.unsqueeze(1), left, right)


def product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return what `matmul` returns, by matmul.c. Raises ValueError for shapes that do not fit."""
    made, (seeds, rows, inner), columns = _compiled(), left.shape, right.shape[2]
    assert made is not None
    bias = None if bias is None else bias.contiguous()
    if right.shape[:2] != (seeds, inner) or (bias is not None and bias.shape != (seeds, columns)):
        shapes = [tuple(of.shape) for of in (left, right, bias) if of is not None]
        raise ValueError(f"shapes do not fit: {', '.join(map(str, shapes))}")
    result = left.new_empty(seeds, rows, columns)
    starts = (None, 0) if bias is None else (bias.data_ptr(), bias.stride(0))
    made.matmul(
        *(seeds, rows, columns, inner),
        *(left.data_ptr(), *left.stride()),
        *(right.data_ptr(), *right.stride()),
        *(*starts, result.data_ptr()),
    )
    return result


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled source where it is the fastest: with AVX-512, but not on Intel's processors."""
    return None if vendor() == "GenuineIntel" else _compiled()


@cache
def _compiled() -> ctypes.CDLL | None:
    made = compiled(Path(__file__).with_name("matmul.c"))
    if made is None or not ctypes.c_int.in_dll(made, "lanes").value:
        return None
    count, pointer = ctypes.c_int64, ctypes.c_void_p
    sizes, factor = (count,) * 4, (pointer, count, count, count)
    made.matmul.argtypes = (*sizes, *factor, *factor, pointer, count, pointer)
    made.matmul.restype = None
    return made
