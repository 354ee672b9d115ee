"""The processor, and the cores and memory that control groups leave to this process, as in a container, on Linux."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def cores() -> int:
    """Return the number of cores that this process may use, by its affinity and its control groups; a part is one."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min([allowed, *_quotas()])


def memory_left() -> list[int]:
    """Return the bytes that each control group with a limit leaves of it; cached files are given back."""
    left = []
    for group in _groups("memory"):
        for limit, used in (("memory.max", "anon"), ("memory.limit_in_bytes", "total_rss")):  # versions 2 and 1
            try:
                statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
                left.append(int((group / limit).read_text()) - int(statistics[used]))
            except (OSError, ValueError, KeyError):  # of the other version, or no limit: "max"
                continue
    return left


def _quotas() -> Iterator[int]:
    for group in _groups("cpu"):
        for names in (["cpu.max"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]):  # versions 2 and 1
            try:
                quota, period = map(int, " ".join((group / name).read_text() for name in names).split())
            except (OSError, ValueError):
                continue
            if quota > 0:  # -1: none
                yield math.ceil(quota / period)


def _groups(controller: str) -> Iterator[Path]:
    """Yield the folders of this process's group and of those above it, of version 2 and of version 1's `controller`.

    In a container a path may be the machine's, which is not there, while the container's own group is the root.
    """
    lines = MEMBERSHIP.read_text().splitlines() if MEMBERSHIP.exists() else []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = ROOT / controller if controllers else ROOT
        own = root / path.lstrip("/")
        yield from (own, *own.parents)


def cpuinfo() -> dict[str, str]:
    """Return the fields of /proc/cpuinfo, of one processor; none where this is not Linux."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    fields = [line.partition(":") for line in lines]
    return {key.strip(): value.strip() for key, _, value in fields}
