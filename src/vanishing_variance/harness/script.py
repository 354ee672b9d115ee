"""Stage scripts: their arguments, and their exit codes."""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from vanishing_variance.harness.edits import require_unedited
from vanishing_variance.harness.errors import DivergedError, InputError, one_line
from vanishing_variance.harness.memory import REMEDY, ran_out


class Arguments(argparse.ArgumentParser):
    """An argument parser whose errors are one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit."""
        _exit(2, one_line(f"{self.prog}: {message}", 400))


def run_script(main: Callable[[], None]) -> None:
    """Run the function of a script.

    An InputError, too little memory, a process that was killed, or a source that was edited meanwhile prints one line
    and exits with 2, a training that diverged with 3.
    """
    values = [word for word in sys.argv[1:] if re.fullmatch(r"\w[\w-]*", word)]
    name = "-".join([Path(sys.argv[0]).stem, *values])  # train-argmax for `train --task argmax`
    try:
        main()
        require_unedited("while this ran, so its outputs are of neither version; run it again")
    except InputError as problem:
        _exit(2, str(problem))
    except DivergedError as problem:
        _exit(3, str(problem))
    except (MemoryError, OSError, RuntimeError) as problem:
        if not ran_out(problem):
            raise
        _exit(2, f"{name}: memory ran out; {REMEDY}")


def _exit(code: int, message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)
