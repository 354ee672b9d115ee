"""Stage scripts: their arguments, and their exit codes."""

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from vanishing_variance.harness.errors import DivergedError, InputError, one_line, ran_out
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.locks import exclusive_lock
from vanishing_variance.harness.paths import TIMES


class Arguments(argparse.ArgumentParser):
    """An argument parser whose errors are one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit."""
        print(f"error: {one_line(f'{self.prog}: {message}', 400)}", file=sys.stderr)
        sys.exit(2)


def stage_name(script: str, arguments: Sequence[str]) -> str:
    """Return the name of a script's lock and time with these arguments: train-argmax for `train --task argmax`."""
    return "-".join([script, *(word for word in arguments if re.fullmatch(r"\w[\w-]*", word))])


def run(main: Callable[[], None]) -> None:
    """Run a stage, and write its time to runs/times, which is no output of DVC's: the page shows it.

    An InputError, too little memory, or a process that was killed prints one line and exits with 2, a training that
    diverged with 3. Another process that runs the same stage in the same folder is waited for.
    """
    name = stage_name(Path(sys.argv[0]).stem, sys.argv[1:])
    try:
        with exclusive_lock(name):
            began = time.perf_counter()
            main()
            seconds = round(time.perf_counter() - began, 2)
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except DivergedError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(3)
    except (MemoryError, OSError, RuntimeError) as problem:
        if isinstance(problem, BrokenProcessPool):
            print(f"error: {name}: one of its processes was killed, as where memory runs out", file=sys.stderr)
            sys.exit(2)
        if not ran_out(problem):
            raise
        print(
            f"error: {name}: memory ran out; run fewer things at once, or lower what params.yaml asks for",
            file=sys.stderr,
        )
        sys.exit(2)
    with suppress(InputError):
        write_json(TIMES / f"{name}.json", {"stage": name, "seconds": seconds})
