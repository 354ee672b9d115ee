"""Waiting for other processes."""

import os
import time
from pathlib import Path


def alive(pid):
    try:
        os.kill(pid, 0)
        if not Path("/proc/self/stat").exists():  # not Linux
            return True
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"
    except (ProcessLookupError, FileNotFoundError):  # it may end between the two
        return False


def wait_for(condition, seconds=180):
    """Return the condition's value once it is true; the limit is one that a loaded machine does not reach, either."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.1)
    raise AssertionError("it did not happen")
