"""The device of all tensors: the GPU when there is one, without a setting."""

import os

import torch
from torch.utils import deterministic


def device() -> torch.device:
    """Return CUDA when it is available, with deterministic algorithms, so that a run repeats its bits; else the CPU.

    On the CPU, denormal numbers are flushed to zero in this thread and those that it starts, compiled kernels included:
    gradients of saturated attention have many, and Intel's processors multiply them up to 180 times more slowly. Both
    are set each time: another thread may ask, or the caller may have set them back.
    """
    if not torch.cuda.is_available():
        torch.set_flush_denormal(True)
        return torch.device("cpu")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    # a kernel a tensor, for nothing that is read (tests/engine/test_training.py)
    deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return torch.device("cuda")
