"""Seeds needed to show that a difference is small."""

from bisect import bisect_left

from scipy import stats

from vanishing_variance.statistics.intervals import CONFIDENCE
from vanishing_variance.statistics.power import MOST


def seeds_for_equivalence(deviation: float, margin: float, wanted: float = 0.9) -> int | None:
    """Return the fewest seeds, two or more, whose 95% t interval lies within ±margin with probability `wanted`.

    The true difference is taken to be 0, and `deviation` to be the standard deviation of the differences over seeds.
    None above 10^6 seeds. Raises ValueError where margin is not positive.
    """
    if margin <= 0:
        raise ValueError(f"seeds_for_equivalence needs a positive margin, not {margin}")

    def likely(n: int) -> bool:
        error = deviation / n**0.5
        room = margin - stats.t.isf((1 - CONFIDENCE) / 2, n - 1) * error
        return bool(room >= stats.norm.isf((1 - wanted) / 2) * error)

    sizes = range(2, MOST + 1)
    place = bisect_left(sizes, True, key=likely)
    return sizes[place] if place < len(sizes) else None
