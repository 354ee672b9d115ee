"""Time of work, on whichever device."""

import time
from collections.abc import Callable

import torch

from vanishing_variance.engine.device import device

SECONDS = 2.0


def per_unit(work: Callable[[], None], units: int) -> float:
    """Milliseconds a unit: `work`, which does `units`, once to warm up, and then again for about two seconds."""
    work()
    done, start = 0, now()
    while not done or now() - start < SECONDS:
        work()
        done += units
    return (now() - start) / done * 1e3


def now() -> float:
    """Seconds, when all that was asked of the device is done."""
    if device().type != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter()
