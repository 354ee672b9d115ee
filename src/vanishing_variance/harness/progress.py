"""Progress of long work: a bar on a terminal, a plain line now and then in a log."""

import sys
import time
from typing import Self

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Counts units of work towards `total` and shows rate and time left on standard error.

    In a log the rate is that since the last line, so that units which an earlier run finished count once alone; in the
    last line it is the mean since the first.
    """

    def __init__(self, label: str, total: int, unit: str) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._done, self._shown = 0, 0
        self._first: tuple[int, float] | None = None  # units, and when, of the first line
        self._began = self._last_line = time.monotonic()
        self._bar = tqdm(total=total, desc=label, unit=unit, mininterval=0.5) if sys.stderr.isatty() else None

    def __call__(self, done: int) -> None:
        """Count `done` more units as finished."""
        self._done += done
        if self._bar is not None:
            self._bar.update(done)
        elif time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._line()

    def _line(self) -> None:
        now = time.monotonic()
        rate = (self._done - self._shown) / max(now - self._last_line, 1e-9)
        remaining = self._total - self._done
        left = remaining / rate if rate else float("inf") if remaining else 0
        self._shown, self._last_line = self._done, now
        self._first = self._first or (self._done, now)
        text = f"{self._label}: {self._done}/{self._total} {self._unit}, {rate:.0f} {self._unit}/s, {left:.0f} s left"
        print(text, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif failure is None:
            self._shown, self._last_line = self._first or (0, self._began)
            self._line()
