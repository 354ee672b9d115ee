"""What can go wrong through the user's doing, and what it says."""

import errno
from typing import Any


class InputError(Exception):
    """A bad parameter, argument or file. The message is one line that names it and what is allowed; exit code 2."""


class DivergedError(Exception):
    """A training loss that is no longer a number. The message names seed, step and variant; exit code 3."""


def shown(value: Any) -> str:
    """A value as it stands in an error: one line, shortened."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def ran_out(problem: BaseException) -> bool:
    """Whether an exception says that there was no memory: Python's, the system's or torch's, of a CPU or a GPU."""
    if isinstance(problem, OSError):
        return problem.errno == errno.ENOMEM
    said = str(problem)
    return isinstance(problem, MemoryError) or "out of memory" in said or "can't allocate memory" in said
