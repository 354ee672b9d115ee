"""Association of a quantity with accuracy within groups, such as lengths, with intervals over seeds.

n observations, K variables, B resamples.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Real, Shaped

from vanishing_variance.statistics.clusters import NOTHING, Sample, draw, percentiles

# Resamples of fewer clusters are so few that their quantiles say nothing.
FEWEST = 5


@dataclass(frozen=True)
class Association:
    """The correlation r within groups, its square, the share that is explained, and their 95% intervals.

    `n` is the number of observations. What cannot be computed is None, and `note` says why.
    """

    n: int
    r: float | None = None
    r_low: float | None = None
    r_high: float | None = None
    r2: float | None = None
    r2_low: float | None = None
    r2_high: float | None = None
    note: str = ""


def association(
    quantity: Real[np.ndarray, " n"],
    accuracy: Real[np.ndarray, " n"],
    group: Shaped[np.ndarray, " n"],
    cluster: Shaped[np.ndarray, " n"],
    rng: np.random.Generator,
    given: Real[np.ndarray, " n"] | None = None,
) -> Association:
    """Return the correlation of quantity and accuracy, once the mean of its `group` is taken off each of them.

    r2 is the within-R2 of a regression with an intercept for every group (fixed effects). With another quantity
    `given`, r is the partial correlation: both are replaced by their residuals on it, after the means are taken off.

    The intervals are 95% percentile intervals over 1,999 resamples of whole clusters (seeds), drawn with replacement;
    group means are taken anew in each. Of eight clusters they hold r about 92 times in 100. r2 cannot be negative, so
    its interval leans upwards where little is explained. Resamples in which nothing varies are left out, and `note`
    says how many. `group` and `cluster` are labels.

    Raises ValueError when the arrays differ in shape, are empty or hold numbers that are not finite.
    """
    variables = [accuracy, quantity] if given is None else [accuracy, quantity, given]
    sample = Sample.of(variables, group, cluster)
    n = len(accuracy)
    still = [name for name, flat in zip(("accuracy", "the quantity", "the given"), sample.flat, strict=False) if flat]
    if still:
        return Association(n, note=f"no variation within groups of {' and '.join(still)}: no correlation")
    of = _plain if given is None else _partial
    r = float(of(sample.products(np.ones((1, sample.clusters))))[0])
    if np.isnan(r):
        return Association(n, note="the given leaves nothing to explain: no correlation")
    if sample.clusters < FEWEST:
        return Association(n, r, r2=r**2, note=f"fewer than {FEWEST} clusters: no interval")
    drawn = of(sample.products(draw(sample.clusters, rng)))
    (r_low, r_high), (r2_low, r2_high) = percentiles(drawn), percentiles(drawn**2)
    return Association(n, r, r_low, r_high, r**2, r2_low, r2_high, _left_out(drawn))


def _correlation(products: Float[np.ndarray, "K K B"], one: int, other: int) -> Float[np.ndarray, " B"]:
    return np.asarray(products[one, other] / np.sqrt(products[one, one] * products[other, other]))


def _plain(products: Float[np.ndarray, "K K B"]) -> Float[np.ndarray, " B"]:
    return _correlation(products, 0, 1)


def _partial(products: Float[np.ndarray, "3 3 B"]) -> Float[np.ndarray, " B"]:
    direct, *by_given = (_correlation(products, *pair) for pair in ((0, 1), (0, 2), (1, 2)))
    left = [np.where(1 - r**2 > NOTHING, 1 - r**2, np.nan) for r in by_given]
    return np.asarray((direct - by_given[0] * by_given[1]) / np.sqrt(left[0] * left[1]))


def _left_out(drawn: Float[np.ndarray, " B"]) -> str:
    left_out = int(np.isnan(drawn).sum())
    return f"{left_out} of {len(drawn)} resamples left out: nothing varies" if left_out else ""
