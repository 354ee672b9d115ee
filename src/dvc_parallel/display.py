"""The driver's display: in a log lines as they come; on a terminal a line for each running stage, rewritten."""

import re
import sys
import time
from collections.abc import Callable
from typing import Any

from tqdm import tqdm

# How far a stage is, as `progress` writes it: 1200/8000 seed-steps, 310 seed-steps/s, 22 s left
PROGRESS = re.compile(r".*?((\d+)/(\d+) \S+, \S+ \S+/s, \S+ s left)$")
# In a log the whole is told at least as often while stages run, and how far each of them is.
SECONDS_BETWEEN_LINES = 30.0
# In the place of a stage's name: the line about all of them.
WHOLE = ""


def fraction(text: str) -> float | None:
    """Return how far a stage is that printed this, from 0 to 1; None where it does not say."""
    progress = PROGRESS.match(text)
    return int(progress[2]) / max(int(progress[3]), 1) if progress else None


class Display:
    """Prints what happens, each line of a stage with its name."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._live, self._now = sys.stderr.isatty(), now
        self._told, self._far = now(), dict[str, float]()
        self._bars: dict[str, Any] = {}

    def say(self, text: str) -> None:
        """Print a line about the whole."""
        with tqdm.external_write_mode():
            print(text, flush=True)

    def warn(self, text: str) -> None:
        """Print a line about what went wrong."""
        tqdm.write(text, file=sys.stderr)

    def whole(self, text: str, at_once: bool) -> None:
        """Show how far all is; in a log only now and then, unless `at_once`."""
        if self._live:
            self._show(WHOLE, text)
        elif at_once or self._now() - self._told >= SECONDS_BETWEEN_LINES:
            self._told = self._now()
            running = ", ".join(f"{stage} ({far:.0%})" for stage, far in self._far.items())
            self.say(f"{text}; running: {running}" if running else text)

    def started(self, stage: str, where: str, cores: int) -> None:
        """Note that a worker runs the stage."""
        if stage not in self._far:
            self._far[stage] = 0.0
            self._show(stage, f"{stage}: at {where}, cores: {cores}")

    def line(self, stage: str, text: str) -> None:
        """Show what the stage printed."""
        progress, far = PROGRESS.match(text), fraction(text)
        if progress and far is not None and stage in self._far:
            self._far[stage] = far
            self._show(stage, f"{stage}: {progress[1]}")
        elif text:
            self.say(f"{stage}| {text}")

    def ended(self, stage: str) -> None:
        """Note that the stage does not run any more."""
        self._far.pop(stage, None)
        if stage in self._bars:
            self._bars.pop(stage).close()

    def close(self) -> None:
        """Note that nothing runs any more."""
        for stage in [*self._far, WHOLE]:
            self.ended(stage)

    def _show(self, stage: str, text: str) -> None:
        """Rewrite a stage's line on a terminal; that about the whole stands above the others."""
        if self._live:
            for one in (WHOLE, stage):
                if one not in self._bars:
                    self._bars[one] = tqdm(bar_format="{desc}", leave=False, file=sys.stderr)
            self._bars[stage].set_description_str(text)
