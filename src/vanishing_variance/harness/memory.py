"""A check, before a stage begins, that its memory is plainly there."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from vanishing_variance.harness.errors import InputError

BYTES_PER_VALUE = 4
GIBIBYTE = 2**30
CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def require_memory(values: float, parameters: Mapping[str, object]) -> None:
    """Raise InputError where arrays of so many single-precision values plainly do not fit in the free memory.

    Coarse: `values` counts the largest arrays that are there at one time, of all processes together, and nothing else.
    `parameters` are what they grow with, by dotted name, the first to be lowered first.
    """
    needed = BYTES_PER_VALUE * values
    free = free_memory()
    if needed <= free:
        return
    lower = " or ".join(f"{name} ({value})" for name, value in parameters.items())
    raise InputError(
        f"needs about {needed / GIBIBYTE:.1f} GiB of memory, of which {free / GIBIBYTE:.1f} GiB are free; lower {lower}"
    )


def free_memory() -> int:
    """Return the free bytes of the GPU where torch computes on one, else of the machine and the control groups."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return int(torch.cuda.mem_get_info()[0])
    of_machine = int(psutil.virtual_memory().available)
    return min([of_machine, *_left_by_groups()])


def _left_by_groups() -> Iterator[int]:
    """Yield what this process's control group and each above it leave of their limits (cgroup v2)."""
    try:
        own = MEMBERSHIP.read_text().rpartition("::/")[2].strip()
    except OSError:  # not Linux
        return
    for folder in (CGROUPS / own, *(CGROUPS / own).parents):
        try:
            limit = int((folder / "memory.max").read_text())
            statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):  # no such group here, or no limit: "max"
            continue
        yield limit - int(statistics["anon"])  # cached files are given back
