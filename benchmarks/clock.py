"""Time and memory of this process."""

import resource
import sys
import time
from collections.abc import Callable

import psutil
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


def resident() -> float:
    """MiB of memory that this process holds now."""
    return float(psutil.Process().memory_info().rss / 2**20)


def peak() -> float:
    """MiB of memory that this process has held at most."""
    unit = 1 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
