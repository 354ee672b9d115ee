"""Two independent means, by their standard errors: Welch's t-test.

Scipy's needs the values for the interval, which of the paper's numbers are not known.
"""

import math
from collections.abc import Sequence

from scipy import stats

from vanishing_variance.statistics.intervals import NAN


def welch(
    difference: float, errors: Sequence[float], freedom: Sequence[float], confidence: float
) -> tuple[float, float, float]:
    """Return the two-sided p of a difference of two means, and its interval of this confidence.

    `errors` are the standard errors of the means, in the units of the difference, `freedom` their degrees of freedom.
    Two one-sided tests at 5% show that the means are equivalent where the 90% interval is within a margin (Schuirmann
    1987). All are NaN where no error is known, or neither mean has one.
    """
    error = math.hypot(*errors)
    if not 0 < error < math.inf:
        return NAN, NAN, NAN
    of_both = error**4 / sum(own**4 / of_own for own, of_own in zip(errors, freedom, strict=True))
    p = 2 * float(stats.t.sf(abs(difference) / error, of_both))
    margin = float(stats.t.ppf((1 + confidence) / 2, of_both)) * error
    return p, difference - margin, difference + margin
