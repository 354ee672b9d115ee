"""Numbers at two states, as `dvc metrics diff --json` and `dvc params diff --json` print them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Pair:
    """A value of a file at both states; None where it is not there."""

    file: str
    key: str
    before: Any
    after: Any

    @property
    def change(self) -> float | None:
        """The difference, where both are numbers."""
        if _number(self.before) and _number(self.after):
            return float(self.after) - float(self.before)
        return None

    @property
    def relative(self) -> float:
        """The size of the change over that of the number before; infinite where there is no such ratio."""
        if self.change is None or self.before == 0:
            return math.inf
        return abs(self.change / float(self.before))


def pairs(document: Mapping[str, Mapping[str, Any]]) -> list[Pair]:
    """What differs, by file; within a file the largest relative changes first."""
    found = [
        Pair(file, key, one.get("old"), one.get("new")) for file, keys in document.items() for key, one in keys.items()
    ]
    # A number that is not one differs from itself.
    found = [pair for pair in found if not (_nan(pair.before) and _nan(pair.after))]
    return sorted(found, key=lambda pair: (pair.file, -pair.relative, pair.key))


def split(pairs: Sequence[Pair], most: int) -> tuple[list[Pair], list[Pair]]:
    """At most `most` of them to show, of every file its first ones alike, and the rest; both in their order."""
    place: dict[str, int] = {}
    ranks = []
    for pair in pairs:
        ranks.append(place.setdefault(pair.file, 0))
        place[pair.file] += 1
    first = set(sorted(range(len(pairs)), key=lambda number: ranks[number])[:most])
    return (
        [pair for number, pair in enumerate(pairs) if number in first],
        [pair for number, pair in enumerate(pairs) if number not in first],
    )


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
