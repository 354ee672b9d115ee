"""Progress of long work: a bar on a terminal, a plain line now and then in a log."""

import sys
import time
from typing import Self

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Counts units of work towards `total` and shows rate and time left on standard error.

    In a log the rate is that since the last line, so that units which an earlier run finished count once alone.
    """

    def __init__(self, label: str, total: int, unit: str) -> None:
        self._label = label
        self._total = total
        self._unit = unit
        self._done = 0
        self._done_at_line = 0
        self._began = self._line_at = time.monotonic()
        self._bar = tqdm(total=total, desc=label, unit=unit, mininterval=0.5) if sys.stderr.isatty() else None

    def __call__(self, done: int) -> None:
        """Count `done` more units as finished."""
        self._done += done
        seconds = time.monotonic() - self._line_at
        if self._bar is not None:
            self._bar.update(done)
        elif seconds > SECONDS_BETWEEN_LINES:
            rate = (self._done - self._done_at_line) / seconds
            left = (self._total - self._done) / max(rate, 1e-9)
            self._print(f"{rate:.0f} {self._unit}/s, {left:.0f} s left")
            self._done_at_line = self._done
            self._line_at += seconds

    def _print(self, rate: str) -> None:
        print(f"{self._label}: {self._done}/{self._total} {self._unit}, {rate}", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif failure is None:
            self._print(f"{time.monotonic() - self._began:.0f} s")
