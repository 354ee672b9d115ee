"""Where tensors live: on the GPU when there is one, without a setting."""

import os
from functools import cache

import torch


@cache
def device() -> torch.device:
    """CUDA when it is there, with deterministic algorithms, so that a run gives the same bits twice; else the CPU."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    return torch.device("cuda")


def room() -> int | None:
    """How many bytes the GPU has free; None where there is none."""
    return torch.cuda.mem_get_info()[0] if device().type == "cuda" else None
