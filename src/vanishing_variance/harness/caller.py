"""The process of whoever calls `train` or `evaluate`, which goes on afterwards."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.utils import deterministic


@contextmanager
def as_before() -> Iterator[None]:
    """Compute on one thread, and leave torch's settings and random numbers, and the garbage collector, as they were."""
    threads, random, flushes = torch.get_num_threads(), torch.get_rng_state(), _flushes_denormals()
    repeats = torch.get_deterministic_debug_mode()
    fills = deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    freezes = gc.get_freeze_count() > 0
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_rng_state(random)
        torch.set_flush_denormal(flushes)
        torch.set_deterministic_debug_mode(repeats)
        deterministic.fill_uninitialized_memory = fills  # type: ignore[attr-defined]
        if freezes:
            gc.freeze()


def _flushes_denormals() -> bool:
    smallest = torch.full((1,), torch.finfo(torch.float32).tiny)
    return not (smallest / 2).any()
