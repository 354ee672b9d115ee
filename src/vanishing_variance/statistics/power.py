"""Power of a paired t-test, and the number of seeds for a given power or to show that a difference is small."""

from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from scipy import stats

ALPHA = 0.05
# The power that a number of seeds is asked for.
WANTED = 0.9
# No study has more seeds than this: an effect that needs more is as good as none.
MOST = 10**6
# Beyond this noncentrality the test cannot miss, whatever the number of seeds, and scipy's distribution ends.
_CERTAIN = 1e8


def power(effect: float, n: int, alpha: float = ALPHA) -> float:
    """Return the probability that the two-sided paired t-test of n seeds has p < alpha, where d_z is `effect` in truth.

    By the noncentral t distribution (Cohen 1988, section 2.3): it assumes normal differences. n is 2 or more.
    """
    freedom = n - 1
    critical = stats.t.isf(alpha / 2, freedom)
    noncentrality = min(abs(effect) * n**0.5, _CERTAIN)
    ahead = stats.nct.sf(critical, freedom, noncentrality)
    behind = stats.nct.cdf(-critical, freedom, noncentrality)
    # Significant with the wrong sign: where that is below 1e-9, at a noncentrality of 5 or more, scipy may give NaN.
    return float(ahead + np.nan_to_num(behind))


def seeds_for_power(effect: float) -> int | None:
    """Return the fewest seeds, two or more, with 90% power of the test at alpha = 0.05; None above 10^6.

    The power grows with the number of seeds, unless the effect is 0: there it stays at alpha, and the answer is None.
    """
    return _fewest(lambda n: power(effect, n) >= WANTED)


def seeds_for_equivalence(deviation: float, margin: float) -> int | None:
    """Return the fewest seeds, two or more, whose 95% t interval lies within ±margin with probability 0.9.

    The true difference is taken to be 0, and `deviation` to be the standard deviation of the differences over seeds.
    None above 10^6 seeds.
    """
    z = stats.norm.isf((1 - WANTED) / 2)

    def enough(n: int) -> bool:
        t = stats.t.isf(ALPHA / 2, n - 1)
        standard_error = deviation / n**0.5
        return bool((t + z) * standard_error <= margin)

    return _fewest(enough)


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """Return the smallest number of seeds that is enough, by bisection: all larger ones are enough too."""
    sizes = range(2, MOST + 1)
    place = bisect_left(sizes, True, key=enough)
    return sizes[place] if place < len(sizes) else None
