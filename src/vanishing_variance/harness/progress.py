"""Progress of long work: a bar on a terminal, a plain line now and then in a log."""

import sys
import time
from contextlib import suppress
from typing import Any, Self

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0


def say(line: str) -> None:
    """Print a line on standard error, where there is one: work does not end because nobody reads."""
    with suppress(Exception):  # of any kind: it may be replaced by anything, closed, or its reader gone
        print(line, file=sys.stderr, flush=True)


class Progress:
    """Counts units of work towards `total` and shows rate and time left on standard error.

    In a log the rate is that since the last line, so that units which an earlier run finished count once alone; before
    there is a rate no time is said.
    """

    def __init__(self, label: str, total: int, unit: str) -> None:
        self._label = label
        self._total = total
        self._unit = unit
        self._done = 0
        self._done_at_line = 0
        self._began = self._line_at = time.monotonic()
        self._bar: Any = None
        with suppress(Exception):  # as in `say`
            if sys.stderr.isatty():
                self._bar = tqdm(total=total, desc=label, unit=unit, mininterval=0.5)

    def __call__(self, done: int) -> None:
        """Count `done` more units as finished."""
        self._done += done
        seconds = time.monotonic() - self._line_at
        if self._bar is not None:
            with suppress(Exception):
                self._bar.update(done)
        elif seconds > SECONDS_BETWEEN_LINES:
            rate = (self._done - self._done_at_line) / seconds
            left = f"{rate:.0f} {self._unit}/s, {(self._total - self._done) / rate:.0f} s left" if rate else "at work"
            self._print(left)
            self._done_at_line = self._done
            self._line_at += seconds

    def _print(self, rate: str) -> None:
        say(f"{self._label}: {self._done}/{self._total} {self._unit}, {rate}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if self._bar is not None:
            with suppress(Exception):
                self._bar.close()
        elif failure is None:
            self._print(f"{time.monotonic() - self._began:.0f} s")
