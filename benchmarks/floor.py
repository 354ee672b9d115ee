"""The bounds of the engine on this machine, on one core: products of 128 x 128 matrices, and the memory."""

from collections.abc import Callable

import torch
from scipy.linalg import blas
from torch import Tensor

from benchmarks.clock import per_unit
from vanishing_variance.engine.device import device
from vanishing_variance.harness import parallel


@torch.no_grad()
def product(multiply: Callable[[Tensor, Tensor], Tensor]) -> float:
    """Return microseconds a product of two 128 x 128 matrices, single precision, four at a time."""
    parallel.single_threaded()
    left, right = torch.randn(2, 4, 128, 128, device=device())

    def products() -> None:
        for _ in range(1000):
            multiply(left, right)

    return per_unit(products, 4000) * 1e3


def openblas(left: Tensor, right: Tensor) -> Tensor:
    """Return the products of square matrices by the OpenBLAS that scipy brings."""
    result = torch.empty_like(left)
    for a, b, to in zip(left.numpy(), right.numpy(), result.numpy(), strict=True):
        blas.sgemm(1.0, b.T, a.T, c=to.T, overwrite_c=True)  # by columns: the transposed product, the factors swapped
    return result


def copy() -> float:
    """GB/s read and written by a copy of 256 MiB."""
    parallel.single_threaded()
    source, target = torch.ones(2, 2**26, device=device())
    milliseconds = per_unit(lambda: target.copy_(source), 1)
    return float(2 * source.nbytes / milliseconds / 1e6)
