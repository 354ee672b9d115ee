"""What the driver shows: in a log every line as it comes; on a terminal a line for each running stage, rewritten."""

import re
import sys
from typing import Any

from tqdm import tqdm

# How far a stage is, as `progress` writes it: 1200/8000 seed-steps, 310 seed-steps/s, 22 s left
PROGRESS = re.compile(r".*?(\d+/\d+ \S+, \S+ \S+/s, \S+ s left)$")


class Display:
    """Prints what happens, each line of a stage with its name."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._bars: dict[str, Any] = {}

    def say(self, text: str) -> None:
        """A line about the whole."""
        if self._live:
            tqdm.write(text, file=sys.stdout)
        else:
            print(text, flush=True)

    def warn(self, text: str) -> None:
        """A line about what went wrong."""
        tqdm.write(text, file=sys.stderr)

    def started(self, stage: str, where: str, cores: int) -> None:
        """A worker runs the stage."""
        if self._live and stage not in self._bars:
            self._bars[stage] = tqdm(bar_format="{desc}", leave=False, file=sys.stderr)
            self._bars[stage].set_description_str(f"{stage}: at {where}, cores: {cores}")

    def line(self, stage: str, text: str) -> None:
        """The stage printed something."""
        progress = PROGRESS.match(text)
        if self._live and progress and stage in self._bars:
            self._bars[stage].set_description_str(f"{stage}: {progress[1]}")
        elif text:
            self.say(f"{stage}| {text}")

    def ended(self, stage: str) -> None:
        """The stage does not run any more."""
        if stage in self._bars:
            self._bars.pop(stage).close()

    def close(self) -> None:
        """Nothing runs any more."""
        for stage in list(self._bars):
            self.ended(stage)
