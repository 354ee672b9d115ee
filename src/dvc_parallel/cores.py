"""The cores of a machine, and their division between stages that run at once."""

import os
from collections.abc import Sequence


def cores() -> int:
    """Return the number of cores of this machine that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(cores: int, wanted: Sequence[int]) -> list[int]:
    """Return how many cores each stage gets, one at least: what it wants where that is no more than an equal share.

    What some leave is divided between the others. Where there are more stages than cores, the sum is above `cores`.
    """
    given, left = [1] * len(wanted), cores
    for place, index in enumerate(sorted(range(len(wanted)), key=lambda index: wanted[index])):
        given[index] = max(1, min(wanted[index], left // (len(wanted) - place)))
        left -= given[index]
    return given
