"""The processor, as Linux describes it."""

from pathlib import Path


def cpuinfo() -> dict[str, str]:
    """Return the fields of /proc/cpuinfo, of one processor; none where this is not Linux."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    fields = [line.partition(":") for line in lines]
    return {key.strip(): value.strip() for key, _, value in fields}
