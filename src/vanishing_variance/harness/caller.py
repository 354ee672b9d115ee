"""The settings that torch and numpy keep for a whole process or thread, which decide numbers."""

import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import overrides
from torch.nn.modules import module as of_modules
from torch.optim import optimizer as of_optimisers
from torch.utils import _python_dispatch, deterministic

# Everything here is of the whole process: one caller at a time. A forked one has one thread, which waits for no other.
_lock = threading.RLock()
os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]


def _flushes_denormals() -> bool:
    smallest = torch.full((1,), torch.finfo(torch.float32).tiny, dtype=torch.float32, device="cpu")
    return not (smallest / 2).any()


def _cuda_random() -> list[torch.Tensor]:
    return torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []


# Of products in single precision, by backend and operation, the general one first.
_OPERATIONS = [("generic", "all"), *product(("cuda", "mkldnn"), ("all", "matmul", "conv", "rnn"))]
_USUAL = dict.fromkeys(_OPERATIONS, "ieee") | {("cuda", "conv"): "tf32", ("cuda", "rnn"): "tf32"}


def _precisions() -> tuple[str | None, dict[tuple[str, str], str]]:
    try:
        of_all = torch.get_float32_matmul_precision()
    except RuntimeError:  # set by operation
        of_all = None
    return of_all, {key: torch._C._get_fp32_precision_getter(*key) for key in _OPERATIONS}


def _set_precisions(precisions: tuple[str | None, dict[tuple[str, str], str]]) -> None:
    of_all, by_operation = precisions
    if of_all is not None:
        torch.set_float32_matmul_precision(of_all)
    for key, precision in by_operation.items():
        if torch._C._get_fp32_precision_getter(*key) != precision:
            torch._C._set_fp32_precision_setter(*key, precision)


_backends: Any = torch.backends
_FILL = "fill_uninitialized_memory"
# What is put back afterwards: how it is read and set.
KEPT: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
    (torch.get_rng_state, torch.set_rng_state),
    (_cuda_random, torch.cuda.set_rng_state_all),
    (np.random.get_state, np.random.set_state),
    (random.getstate, random.setstate),
    (_flushes_denormals, torch.set_flush_denormal),
]
# What is also set meanwhile, as in a new process.
SET: list[tuple[Callable[[], Any], Callable[[Any], Any], Any]] = [
    (torch.get_num_threads, torch.set_num_threads, 1),
    (torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    (_precisions, _set_precisions, ("highest", _USUAL)),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode, 0),
    (lambda: getattr(deterministic, _FILL), partial(setattr, deterministic, _FILL), True),
    (torch.is_anomaly_enabled, torch.set_anomaly_enabled, False),
    (_backends.mha.get_fastpath_enabled, _backends.mha.set_fastpath_enabled, True),
    (_backends.cuda.flash_sdp_enabled, _backends.cuda.enable_flash_sdp, True),
    (_backends.cuda.mem_efficient_sdp_enabled, _backends.cuda.enable_mem_efficient_sdp, True),
    (_backends.cuda.math_sdp_enabled, _backends.cuda.enable_math_sdp, True),
    (_backends.cuda.cudnn_sdp_enabled, _backends.cuda.enable_cudnn_sdp, True),
    (torch._C._get_mkldnn_enabled, torch._C._set_mkldnn_enabled, True),
    (torch._C._get_cudnn_enabled, torch._C._set_cudnn_enabled, True),
    (torch._C._get_cudnn_benchmark, torch._C._set_cudnn_benchmark, False),
]


@contextmanager
def as_before() -> Iterator[None]:
    """Compute as in a new process, on one thread, and leave the process as it was; other threads wait.

    Autocast, gradients that are switched off, default dtype and device, precisions, modes and hooks of the caller's
    neither reach what is computed nor get lost.
    """
    with _lock, ExitStack() as stack:
        _leave_modes(stack)
        for read, put in KEPT:
            stack.callback(put, read())
        for read, put, usual in SET:
            stack.callback(put, read())
            put(usual)
        torch.manual_seed(0)
        np.random.seed(0)
        random.seed(0)
        yield


def _leave_modes(stack: ExitStack) -> None:
    """Leave the modes of this thread, and hooks of all modules and optimisers, until the stack unwinds."""
    stack.enter_context(_without_modes())
    stack.enter_context(_without_saving_hooks())
    stack.enter_context(torch.inference_mode(False))
    stack.enter_context(torch.enable_grad())
    for kind in ("cpu", "cuda"):
        stack.enter_context(torch.autocast(kind, enabled=False))
    stack.enter_context(np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"))
    for name, hooks in [*vars(of_modules).items(), *vars(of_optimisers).items()]:
        if name.startswith("_global_") and isinstance(hooks, dict) and hooks:
            stack.callback(hooks.update, dict(hooks))
            hooks.clear()


@contextmanager
def _without_modes() -> Iterator[None]:
    """Leave modes such as a default device, which the outer ones of torch's functions are."""
    modes = []
    while torch._C._len_torch_function_stack():
        modes.append(overrides._pop_mode())
    try:
        with _python_dispatch._disable_current_modes():
            yield
    finally:
        for mode in reversed(modes):
            overrides._push_mode(mode)


@contextmanager
def _without_saving_hooks() -> Iterator[None]:
    """Leave what the caller does with tensors that are saved for a backward pass."""
    autograd = torch._C._autograd
    left = []
    while (hooks := autograd._top_saved_tensors_default_hooks(True)) is not None:
        left.append(hooks)
        autograd._pop_saved_tensors_default_hooks()
    try:
        yield
    finally:
        for hooks in reversed(left):
            autograd._push_saved_tensors_default_hooks(*hooks)
