"""Numbers beyond others and between them, by which a grid grows and its steps are halved."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

DIGITS = 3


def values_beyond(values: Sequence[Any], steps: int) -> list[Any]:
    """Return the numbers by which a grid grows in some steps at either end: of 1 and 2, in one, 0.5 and 4."""
    new: list[Any] = []
    for grid in ([*reversed(values)], [*values]):
        for _ in range(steps):
            value = _like(values, grid[-1] ** 2 / grid[-2])
            if value <= 0 or value in grid:
                break
            grid.append(value)
            new.append(value)
    return new


def values_between(values: Sequence[Any], halvings: int) -> list[Any]:
    """Return the numbers in the middle between neighbours, and between these: of 1 and 4, in one halving, 2."""
    ladder = sorted(values)
    for _ in range(halvings):
        ladder = sorted({*ladder, *(middle(low, high) for low, high in pairwise(ladder))})
    return [value for value in ladder if value not in values]


def middle(low: Any, high: Any) -> Any:
    """Return the number in the middle between two, by ratio."""
    return _like([low, high], (low * high) ** 0.5)


def _like(values: Sequence[Any], value: float) -> Any:
    """Return a number of few digits, whole where the others are."""
    short = float(f"{value:.{DIGITS}g}")
    return round(short) if all(isinstance(other, int) for other in values) else short
