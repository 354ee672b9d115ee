"""What bounds the engine on this machine, on one core: products of 128 x 128 matrices, and the memory."""

import torch

from benchmarks.clock import per_unit
from vanishing_variance import parallel
from vanishing_variance.device import device
from vanishing_variance.kernels.matmul import matmul


@torch.no_grad()
def product(with_torch: bool) -> float:
    """Microseconds a product of two 128 x 128 matrices, single precision, four at a time."""
    parallel.single_threaded()
    left, right = torch.randn(2, 4, 128, 128, device=device())
    multiply = torch.bmm if with_torch else matmul

    def products() -> None:
        for _ in range(1000):
            multiply(left, right)

    return per_unit(products, 4000) * 1e3


def copy() -> float:
    """GB/s read and written by a copy of 256 MiB."""
    parallel.single_threaded()
    source, target = torch.ones(2, 2**26, device=device())
    milliseconds = per_unit(lambda: target.copy_(source), 1)
    return float(2 * source.nbytes / milliseconds / 1e6)
