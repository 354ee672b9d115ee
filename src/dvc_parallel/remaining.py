"""The time that is left for all stages: their work, at the speed at which this run has done its work so far."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# So much work must be done before the speed is known.
ENOUGH = 5.0


@dataclass
class _Running:
    """When it began or last said how far it is, and the fraction of its work that was finished then."""

    since: float
    finished: float = 0.0


class Remaining:
    """Seconds left, of stages by name.

    `work` is in seconds of some machine, without stages of which it is not known; `kinds` says which are alike.
    """

    def __init__(
        self, work: Mapping[str, float], kinds: Mapping[str, str], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._work, self._kinds, self._now = work, kinds, now
        self._running: dict[str, _Running] = {}
        self._telling = set[str]()
        self._done: dict[str, tuple[float, float]] = {}  # kind -> seconds, and the work that was done in them

    def began(self, name: str) -> None:
        """Note that it runs from now on."""
        self._running[name] = _Running(self._now())

    def progressed(self, name: str, finished: float) -> None:
        """Note that so much of its work is finished, as a fraction.

        Its first word counts for nothing: a training that goes on from a checkpoint began with a part of it.
        """
        if name not in self._running:
            return
        if name in self._telling:
            self._note(name, finished)
        self._telling.add(name)
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
        speed = self._seconds_per_work(self._kinds[name])
        if speed is None:
            return None
        running = self._running.get(name)
        if running is None:
            return speed * self._work[name]
        return max(0.0, speed * self._work[name] * (1.0 - running.finished) - (self._now() - running.since))

    def _note(self, name: str, finished: float) -> None:
        if name not in self._work:
            return
        running, kind = self._running[name], self._kinds[name]
        seconds, work = self._done.get(kind, (0.0, 0.0))
        more = self._now() - running.since, self._work[name] * (finished - running.finished)
        self._done[kind] = seconds + more[0], work + more[1]

    def _seconds_per_work(self, kind: str) -> float | None:
        """Return the speed of the stages of that kind, or of all, as long as too few of that kind ran."""
        for some in ([done for one, done in self._done.items() if one == kind], list(self._done.values())):
            work = sum(work for _, work in some)
            if work >= ENOUGH:
                return sum(seconds for seconds, _ in some) / work
        return None


def about(seconds: float) -> str:
    """Return a time in words, no more exact than it is known."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"about {minutes} min" if minutes < 100 else f"about {minutes // 60} h {minutes % 60} min"
