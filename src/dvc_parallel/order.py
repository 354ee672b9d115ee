"""The order of stages: what may begin next, and what may be recorded, as a serial run of DVC would."""

from collections.abc import Collection, Mapping
from itertools import dropwhile, takewhile


class Order:
    """Stages by name. A stage may begin when all that it depends on are settled.

    `upstream` has what each depends on, in the order in which DVC runs them. The records are kept in that order, too:
    whenever the work is cut off, what is recorded is what a serial run would have recorded up to some stage. Of those
    that may begin, the one whose own `seconds` and those of what follows it, at their longest, are most begins first.
    """

    def __init__(self, upstream: Mapping[str, Collection[str]], seconds: Mapping[str, float]) -> None:
        self._upstream, self._unrecorded = upstream, list(upstream)
        self._waiting = dict.fromkeys(upstream)
        self._settled, self._fallen = set[str](), set[str]()
        self._urgency = self._chains(seconds)

    def _chains(self, seconds: Mapping[str, float]) -> dict[str, float]:
        """Return the seconds of each and of those that follow it, at their longest; 0 for one without seconds."""
        chains = dict.fromkeys(self._upstream, 0.0)
        for name in reversed(chains):
            chains[name] += seconds.get(name, 0.0)
            for before in self._upstream[name]:
                chains[before] = max(chains[before], chains[name])
        return chains

    def counts(self) -> tuple[int, int, int]:
        """Return how many are settled, how many have failed or will not run for that, and how many there are."""
        return len(self._settled), len(self._fallen), len(self._upstream)

    def waiting(self) -> list[str]:
        """Return those that have not begun."""
        return list(self._waiting)

    def left(self, seconds: Mapping[str, float], at_once: int) -> float:
        """Return the seconds that stages with so many `seconds` take, so many at once: a bound that is nearly met."""
        return max(sum(seconds.values()) / at_once, *self._chains(seconds).values(), 0.0)

    def ready(self) -> list[str]:
        """Return those that may begin, the most urgent first."""
        ready = (name for name in self._waiting if self._settled.issuperset(self._upstream[name]))
        return sorted(ready, key=lambda name: -self._urgency[name])

    def begin(self, name: str) -> None:
        """Note that it has begun: it is not ready any more."""
        del self._waiting[name]

    def settle(self, name: str) -> None:
        """Note that it has ended well, or that there was nothing to do."""
        self._settled.add(name)

    def fail(self, name: str) -> list[str]:
        """Note that it has failed; return those that wait for it, directly or not, none of which will run."""
        self._fallen.add(name)
        found = []
        for after in self.waiting():
            if not self._fallen.isdisjoint(self._upstream[after]):
                self._fallen.add(after)
                del self._waiting[after]
                found.append(after)
        return found

    def recordable(self) -> list[str]:
        """Return those settled that are to be recorded next: all up to the first that still runs or waits."""
        over = self._settled | self._fallen
        return [name for name in takewhile(over.__contains__, self._unrecorded) if name in self._settled]

    def recorded(self) -> None:
        """Note that what is `recordable` has been recorded."""
        over = self._settled | self._fallen
        self._unrecorded = list(dropwhile(over.__contains__, self._unrecorded))
