"""The number of seeds for a given power of a paired t-test, or to show that a difference is small."""

import math
from bisect import bisect_left

from scipy import stats
from statsmodels.stats.power import TTestPower

ALPHA = 0.05
# The power that a number of seeds is asked for.
WANTED = 0.9
# No study has more seeds than this: an effect that needs more is as good as none.
MOST = 10**6
# Effect sizes that the solver is asked about: the first needs more than MOST seeds, the last three.
SMALLEST, LARGEST = 1e-3, 5.0


def seeds_for_power(effect: float) -> int | None:
    """Return the fewest seeds, three or more, with 90% power of the paired t-test, where d_z is `effect` in truth.

    The test is two-sided, at alpha = 0.05; differences are taken for normal. None above 10^6 seeds.
    """
    size = min(max(abs(effect), SMALLEST), LARGEST)
    seeds = math.ceil(TTestPower().solve_power(size, alpha=ALPHA, power=WANTED))
    return seeds if seeds <= MOST else None


def seeds_for_equivalence(deviation: float, margin: float) -> int | None:
    """Return the fewest seeds, two or more, whose 95% t interval lies within ±margin with probability 0.9.

    The true difference is taken to be 0, and `deviation` to be the standard deviation of the differences over seeds.
    None above 10^6 seeds. Statsmodels has no power of an equivalence test of paired differences.
    """
    z = stats.norm.isf((1 - WANTED) / 2)

    def enough(n: int) -> bool:
        t = stats.t.isf(ALPHA / 2, n - 1)
        standard_error = deviation / n**0.5
        return bool((t + z) * standard_error <= margin)

    sizes = range(2, MOST + 1)
    place = bisect_left(sizes, True, key=enough)  # all larger ones are enough too
    return sizes[place] if place < len(sizes) else None
