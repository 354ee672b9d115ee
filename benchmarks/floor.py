"""The bounds of the engine on this machine, on one core: products of 128 x 128 matrices, and the memory."""

import ctypes
from collections.abc import Callable

import torch
from scipy.linalg import cython_blas
from torch import Tensor

from benchmarks.clock import per_unit
from vanishing_variance.core import parallel
from vanishing_variance.core.device import device


@torch.no_grad()
def product(multiply: Callable[[Tensor, Tensor], Tensor]) -> float:
    """Return microseconds a product of two 128 x 128 matrices, single precision, four at a time."""
    parallel.single_threaded()
    left, right = torch.randn(2, 4, 128, 128, device=device())

    def products() -> None:
        for _ in range(1000):
            multiply(left, right)

    return per_unit(products, 4000) * 1e3


def openblas() -> Callable[[Tensor, Tensor], Tensor]:
    """Return the product of square matrices by the OpenBLAS that scipy brings: Fortran's `sgemm`, by its pointer."""
    capsule = cython_blas.__pyx_capi__["sgemm"]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetPointer.restype = ctypes.c_char_p, ctypes.c_void_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    pointer = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    sgemm = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(pointer)
    as_it_is, one, zero = (ctypes.byref(value) for value in (ctypes.c_char(b"N"), ctypes.c_float(1), ctypes.c_float(0)))

    def multiply(left: Tensor, right: Tensor) -> Tensor:
        size, result = ctypes.byref(ctypes.c_int(left.shape[-1])), torch.empty_like(left)
        for a, b, to in zip(
            left, right, result, strict=True
        ):  # by columns: the transposed product, the factors swapped
            sgemm(*[as_it_is] * 2, *[size] * 3, one, b.data_ptr(), size, a.data_ptr(), size, zero, to.data_ptr(), size)
        return result

    return multiply


def copy() -> float:
    """GB/s read and written by a copy of 256 MiB."""
    parallel.single_threaded()
    source, target = torch.ones(2, 2**26, device=device())
    milliseconds = per_unit(lambda: target.copy_(source), 1)
    return float(2 * source.nbytes / milliseconds / 1e6)
