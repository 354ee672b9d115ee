"""The order of stages: what may begin next, and what may be recorded, as a serial run of DVC would."""

from collections.abc import Collection, Mapping, Sequence


class Order:
    """Stages by name. A stage may begin when all that it depends on are settled.

    `names` is the order in which DVC runs them, of which the records are kept, too: whenever the work is cut off, what
    is recorded is what a serial run would have recorded up to some stage. `upstream` has what each depends on, of these
    names. Of those that may begin, the one whose own `seconds` and those of what follows it, at their longest, are most
    begins first.
    """

    def __init__(
        self, names: Sequence[str], upstream: Mapping[str, Collection[str]], seconds: Mapping[str, float]
    ) -> None:
        self._names = list(names)
        self._place = {name: place for place, name in enumerate(names)}
        self._waiting, self._settled, self._fallen = set(names), set[str](), set[str]()
        self._recorded = 0
        self._downstream: dict[str, list[str]] = {name: [] for name in names}
        for name in names:
            for before in upstream[name]:
                self._downstream[before].append(name)
        self._blocked = {name: len(upstream[name]) for name in names}
        self._free = {name for name in names if not self._blocked[name]}
        self._remaining = self._chains(seconds)

    def _chains(self, seconds: Mapping[str, float]) -> dict[str, float]:
        """Return the seconds of each and of those that follow it, at their longest; 0 for one without seconds."""
        chains: dict[str, float] = {}
        for name in reversed(self._names):
            after = max((chains[next_] for next_ in self._downstream[name]), default=0.0)
            chains[name] = seconds.get(name, 0.0) + after
        return chains

    def counts(self) -> tuple[int, int, int]:
        """Return how many are settled, how many have failed or will not run for that, and how many there are."""
        return len(self._settled), len(self._fallen), len(self._names)

    def waiting(self) -> list[str]:
        """Return those that have not begun."""
        return [name for name in self._names if name in self._waiting]

    def left(self, seconds: Mapping[str, float], at_once: int) -> float:
        """Return the seconds that stages with so many `seconds` take, so many at once: a bound that is nearly met."""
        return max(sum(seconds.values()) / at_once, *self._chains(seconds).values(), 0.0)

    def ready(self) -> list[str]:
        """Return those that may begin, the most urgent first."""
        return sorted(self._free, key=lambda name: (-self._remaining[name], self._place[name]))

    def begin(self, name: str) -> None:
        """Note that it has begun: it is not ready any more."""
        self._free.remove(name)
        self._waiting.remove(name)

    def settle(self, name: str) -> None:
        """Note that it has ended well, or that there was nothing to do."""
        self._settled.add(name)
        for after in self._downstream[name]:
            self._blocked[after] -= 1
            if not self._blocked[after] and after in self._waiting:
                self._free.add(after)

    def fail(self, name: str) -> list[str]:
        """Note that it has failed; return those that wait for it, directly or not, none of which will run."""
        self._fallen.add(name)
        found, look = set[str](), [name]
        while look:
            for after in self._downstream[look.pop()]:
                if after not in found and after in self._waiting:
                    found.add(after)
                    look.append(after)
        self._fallen |= found
        self._waiting -= found
        return sorted(found, key=self._place.__getitem__)

    def recordable(self) -> list[str]:
        """Return those settled that are to be recorded next: all up to the first that still runs or waits."""
        found = []
        while self._recorded < len(self._names):
            name = self._names[self._recorded]
            if name in self._settled:
                found.append(name)
            elif name not in self._fallen:
                break
            self._recorded += 1
        return found
