"""The work of each stage: as the project estimates it, or else as long as its command took last.

It decides what begins first, and the time that is said to be left; no result depends on it. A project declares its
estimator as an entry point of the group GROUP, a function: of the lines of each stage's command, by the stage's name,
it returns, for those that it knows, the seconds that they take on one and the same machine, and a function: the
fraction of the work that is finished when the stage has printed that it has got that far (None: nobody knows).
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import entry_points
from statistics import fmean

from dvc_parallel.errors import InputError, one_line
from dvc_parallel.files import own_folder, write_text

GROUP = "dvc_parallel.work"
NOTED = "seconds.json"

Finished = Callable[[float], float | None]
Estimator = Callable[[Mapping[str, Sequence[str]]], Mapping[str, tuple[float, Finished]]]


class Estimate:
    """The `seconds` of those stages of which something is known, by name; a stage never run takes its kind's mean."""

    def __init__(self, commands: Mapping[str, Sequence[str]]) -> None:
        """`commands` has the lines of each stage's command: none where DVC does all by itself."""
        self._noted, self._estimated = _noted(), _estimated(commands)
        known = self._noted | {name: seconds for name, (seconds, _) in self._estimated.items()}
        kinds: dict[str, list[float]] = {}
        for name, seconds in known.items():
            kinds.setdefault(kind_of(name), []).append(seconds)
        self.seconds = {name: 0.0 for name, lines in commands.items() if not lines}
        for name in [name for name, lines in commands.items() if lines and kind_of(name) in kinds]:
            self.seconds[name] = known.get(name, fmean(kinds[kind_of(name)]))

    def finished(self, name: str, fraction: float) -> float | None:
        """Return the fraction of a stage's work that is finished at the `fraction` that it printed; None if unknown."""
        return self._estimated[name][1](fraction) if name in self._estimated else fraction

    def note(self, seconds: Mapping[str, float]) -> None:
        """Keep how long commands took, for the next time; a disk that is full does not matter."""
        if seconds:
            with suppress(InputError):
                write_text(own_folder() / NOTED, json.dumps({**self._noted, **seconds}, indent=1))


def kind_of(name: str) -> str:
    """Return what the stages of one foreach or matrix share: `train` of `train@argmax-0`."""
    return name.partition("@")[0]


def _noted() -> dict[str, float]:
    try:
        noted = json.loads((own_folder() / NOTED).read_text(encoding="utf-8"))
        return {str(name): float(seconds) for name, seconds in noted.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):  # none, or damaged
        return {}


def _estimated(commands: Mapping[str, Sequence[str]]) -> dict[str, tuple[float, Finished]]:
    found: dict[str, tuple[float, Finished]] = {}
    for point in entry_points(group=GROUP):
        try:
            estimator: Estimator = point.load()
            found |= estimator(commands)
        except Exception as problem:  # somebody else's code, on which no result depends
            print(f"WARNING: {point.value}: {one_line(repr(problem))}", file=sys.stderr, flush=True)
    return found
