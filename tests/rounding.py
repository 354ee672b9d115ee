"""Tolerances for results in single precision, derived from the rounding of its operations; the same in double."""

import torch

EPS = 2.0**-23


def rounding(operations, size):
    """Return how far a float32 result may be from the exact one, on any processor.

    Processors sum in different orders, and some round a product before it is added and some do not. But each operation
    rounds its result by at most eps/2 of it, eps = 2^-23, so that `operations` in a chain, none of whose results is
    larger than `size`, are off by at most operations · eps/2 · size to first order (Higham 2002, Accuracy and Stability
    of Numerical Algorithms, Section 3.1). A product of matrices is a chain of as many as it sums. Twice that is
    returned: of two results in single precision, each may be off.
    """
    return operations * EPS * size


def assert_single(found, exact, operations, size=1.0):
    """Compare a float32 tensor with the exact one, float64, with ten times what rounding may do.

    `size` is the largest number in between, where that is neither 1 nor in the result.
    """
    off = 10 * rounding(operations, max(size, exact.abs().max().item()))
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=off)


def in_double(tensors):
    """Return named tensors, those of floating point in double precision."""
    return {name: tensor.double() if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
