"""Stage scripts: their arguments, and their exit codes."""

import argparse
import errno
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from vanishing_variance.harness.errors import DivergedError, InputError, one_line
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.locks import exclusive_lock
from vanishing_variance.harness.paths import TIMES

REMEDY = "run fewer things at once, or lower seeds_per_block, training.batch_size, test.sequences or model.width"


class Arguments(argparse.ArgumentParser):
    """An argument parser whose errors are one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit."""
        _exit(2, one_line(f"{self.prog}: {message}", 400))


def run(main: Callable[[], None]) -> None:
    """Run a stage, and write its time to runs/times, which is no output of DVC's: stages.pieces reads it.

    An InputError, too little memory, or a process that was killed prints one line and exits with 2, a training that
    diverged with 3. Another process that runs the same stage in the same folder is waited for.
    """
    values = [word for word in sys.argv[1:] if re.fullmatch(r"\w[\w-]*", word)]
    name = "-".join([Path(sys.argv[0]).stem, *values])  # train-argmax for `train --task argmax`
    try:
        with exclusive_lock(name):
            began = time.perf_counter()
            main()
            seconds = round(time.perf_counter() - began, 2)
    except InputError as problem:
        _exit(2, str(problem))
    except DivergedError as problem:
        _exit(3, str(problem))
    except BrokenProcessPool:
        _exit(2, f"{name}: one of its processes was killed, as where memory runs out; {REMEDY}")
    except (MemoryError, OSError, RuntimeError) as problem:
        if not _out_of_memory(problem):
            raise
        _exit(2, f"{name}: memory ran out; {REMEDY}")
    with suppress(InputError):
        write_json(TIMES / f"{name}.json", {"stage": name, "seconds": seconds})


def _exit(code: int, message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


def _out_of_memory(problem: BaseException) -> bool:
    """Return whether an exception is Python's, the system's or torch's for want of memory, of the machine or a GPU."""
    if isinstance(problem, OSError):
        return problem.errno == errno.ENOMEM
    message = str(problem)
    return isinstance(problem, MemoryError) or "out of memory" in message or "can't allocate memory" in message
