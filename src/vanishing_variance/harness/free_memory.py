"""Free memory of the machine, the control groups and this process."""

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def free_memory() -> int:
    """Return the bytes that all processes of a stage may take together: what the machine and its groups leave."""
    return min([int(psutil.virtual_memory().available), *_left_by_groups()])


def free_addresses() -> int | None:
    """Return the bytes that one process may take by its limit (RLIMIT_AS, `ulimit -v`); None where it has none."""
    if sys.platform != "linux":
        return None
    limit = psutil.Process().rlimit(psutil.RLIMIT_AS)[0]
    return None if limit == psutil.RLIM_INFINITY else int(limit - psutil.Process().memory_info().vms)


def _left_by_groups() -> Iterator[int]:
    """Yield what each control group of this process leaves, version 2 or 1; a group may use its parents' only."""
    for line in _text(MEMBERSHIP).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in {"", "memory"}:
            continue
        root, names = (
            (CGROUPS / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"))
            if controllers
            else (CGROUPS, ("memory.max", "memory.current", "inactive_file"))
        )
        inside = root / path.strip("/")
        for folder in (inside, *inside.parents):
            if folder.is_relative_to(root):
                yield from _left_by_group(folder, *names)


def _left_by_group(folder: Path, maximum: str, current: str, cached: str) -> Iterator[int]:
    limit, used = _text(folder / maximum).strip(), _text(folder / current).strip()
    if limit.isdecimal() and used.isdecimal():
        counts = dict(line.split(maxsplit=1) for line in _text(folder / "memory.stat").splitlines())
        # Files that were read are kept in memory until it is wanted.
        yield int(limit) - int(used) + int(counts.get(cached, 0))


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
