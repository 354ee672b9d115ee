"""How a stage script runs: its arguments, and what a user's mistake looks like."""

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from vanishing_variance.errors import DivergedError, InputError, one_line, ran_out
from vanishing_variance.io.files import write_json
from vanishing_variance.io.locks import alone
from vanishing_variance.paths import TIMES


class Arguments(argparse.ArgumentParser):
    """An argument parser that refuses in one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit."""
        print(f"error: {one_line(f'{self.prog}: {message}', 400)}", file=sys.stderr)
        sys.exit(2)


def run(main: Callable[[], None]) -> None:
    """Run a stage, and note how long it took in runs/times, which is nobody's output: the page shows it when there.

    A mistake of the user's, or too little memory, prints one line and exits with 2, a training that diverged with 3.
    Another process that runs the same stage in the same folder is waited for.
    """
    name = "-".join([Path(sys.argv[0]).stem, *(part for part in sys.argv[1:] if part.isalnum())])
    try:
        with alone(name):
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
        if not ran_out(problem):
            raise
        print(
            f"error: {name}: memory ran out; run fewer things at once, or lower what params.yaml asks for",
            file=sys.stderr,
        )
        sys.exit(2)
    with suppress(InputError):
        write_json(TIMES / f"{name}.json", {"stage": name, "seconds": seconds})
