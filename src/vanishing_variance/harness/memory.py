"""Memory: a check, before a stage begins, that it is plainly there; errors for want of it, and those that are not."""

import errno
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psutil

from vanishing_variance.harness import machine
from vanishing_variance.harness.errors import InputError, TooLargeError

BYTES_PER_VALUE = 4
GIBIBYTE = 2**30
REMEDY = "run fewer things at once, or lower seeds_per_block, training.batch_size, test.sequences or model.width"
# How torch, its oneDNN and C++ put it: all are a RuntimeError.
_RAN_OUT = ("out of memory", "allocate memory", "could not create a primitive", "bad_alloc")


def require_memory(values: float, parameters: Mapping[str, object]) -> None:
    """Raise TooLargeError where arrays of so many single-precision values plainly do not fit in the free memory.

    Coarse: `values` counts the largest arrays that are there at one time, of all processes together, and nothing else.
    `parameters` are what they grow with, by dotted name, the first to be lowered first.
    """
    needed = BYTES_PER_VALUE * values
    free = free_memory()
    if needed <= free:
        return
    lower = " or ".join(f"{name} ({value})" for name, value in parameters.items())
    gibibytes = f"about {needed / GIBIBYTE:.1f} GiB, of which {free / GIBIBYTE:.1f} GiB are free"
    raise TooLargeError(f"needs more memory than there is, {gibibytes}; lower {lower}")


def free_memory() -> int:
    """Return the free bytes of the GPU where torch computes on one, else of the machine and the control groups."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return int(torch.cuda.mem_get_info()[0])
    of_machine = int(psutil.virtual_memory().available)
    return min([of_machine, *machine.memory_left()])


def ran_out(problem: BaseException) -> bool:
    """Return whether an exception is Python's, the system's or torch's for want of memory, of the machine or a GPU."""
    if isinstance(problem, OSError):
        return problem.errno == errno.ENOMEM
    return isinstance(problem, MemoryError) or any(words in str(problem) for words in _RAN_OUT)


@contextmanager
def in_one_line(what: str) -> Iterator[None]:
    """Raise InputError for an error of any kind within, but for memory that is not enough."""
    try:
        yield
    except Exception as problem:
        if isinstance(problem, InputError) or ran_out(problem):
            raise
        raise InputError(f"{what} fails: {type(problem).__name__}: {problem}") from problem
