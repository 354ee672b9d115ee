"""Two independent means, by their standard errors: Welch's t-test.

Scipy's needs the values for the interval, which of the paper's numbers are not known.
"""

import math

from scipy import stats

from vanishing_variance.statistics.intervals import NAN


def welch(difference: float, errors: tuple[float, float], counts: tuple[int, int]) -> tuple[float, float, float]:
    """Return the two-sided p of a difference of two means, and its 90% interval.

    `errors` are the standard errors of the means, in the units of the difference, `counts` how many values each mean is
    of. Two one-sided tests at 5% show that the means are equivalent where the 90% interval is within a margin
    (Schuirmann 1987). All are NaN where no error is known, or neither mean has one.
    """
    error = math.hypot(*errors)
    if not 0 < error < math.inf:
        return NAN, NAN, NAN
    parts = [own**4 / (n - 1) for own, n in zip(errors, counts, strict=True)]
    freedom = error**4 / sum(parts)
    p = 2 * float(stats.t.sf(abs(difference) / error, freedom))
    margin = float(stats.t.ppf(0.95, freedom)) * error
    return p, difference - margin, difference + margin
