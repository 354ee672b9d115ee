"""The time that is left for all stages: their work, at the speed at which this run has done its work so far."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dvc_parallel.estimate import kind_of

# So much work must be done before the speed is known.
ENOUGH = 5.0


@dataclass
class _Running:
    """When it began or last said how far it is, and the fraction of its work that was finished then, if it said."""

    since: float
    finished: float | None = None


class Remaining:
    """Seconds left, of stages by name. `work` is in seconds of some machine; not there for stages not known."""

    def __init__(self, work: Mapping[str, float], now: Callable[[], float] = time.monotonic) -> None:
        self._work, self._now = work, now
        self._running: dict[str, _Running] = {}
        # Of what was done, by kind of stage: seconds, and the work that was done in them.
        self._seconds: dict[str, float] = defaultdict(float)
        self._done: dict[str, float] = defaultdict(float)

    def began(self, name: str) -> None:
        """Note that it runs from now on."""
        self._running[name] = _Running(self._now())

    def progressed(self, name: str, finished: float) -> None:
        """Note that so much of its work is finished, as a fraction.

        Its first word counts for nothing: a training that goes on from a checkpoint began with a part of it.
        """
        if name not in self._running:
            return
        if self._running[name].finished is not None:
            self._note(name, finished)
        self._running[name] = _Running(self._now(), finished)

    def ended(self, name: str, well: bool) -> None:
        """Note that it does not run any more."""
        if well:
            self._note(name, 1.0)
        del self._running[name]

    def left(self, name: str) -> float | None:
        """Return the seconds that one stage will still take; None where its work, or the speed so far, is not known."""
        if name not in self._work:
            return None
        if not self._work[name]:
            return 0.0
        speed = self._seconds_per_work(kind_of(name))
        if speed is None:
            return None
        running = self._running.get(name)
        if running is None:
            return speed * self._work[name]
        unfinished = 1.0 - (running.finished or 0.0)
        return max(0.0, speed * self._work[name] * unfinished - (self._now() - running.since))

    def _note(self, name: str, finished: float) -> None:
        if name in self._work:
            running, kind = self._running[name], kind_of(name)
            self._seconds[kind] += self._now() - running.since
            self._done[kind] += self._work[name] * (finished - (running.finished or 0.0))

    def _seconds_per_work(self, kind: str) -> float | None:
        """Return the speed of the stages of that kind, or of all, as long as too few of that kind ran."""
        if self._done[kind] >= ENOUGH:
            return self._seconds[kind] / self._done[kind]
        work = sum(self._done.values())
        return sum(self._seconds.values()) / work if work >= ENOUGH else None


def about(seconds: float) -> str:
    """Return a time in words, no more exact than it is known."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"about {minutes} min" if minutes < 100 else f"about {minutes // 60} h {minutes % 60} min"
