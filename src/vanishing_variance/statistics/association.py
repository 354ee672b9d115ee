"""How well a quantity explains accuracy within groups, such as lengths, with intervals over seeds.

n observations, K variables, G groups, C clusters, B resamples.
"""

from dataclasses import dataclass

import numpy as np

from vanishing_variance.statistics.intervals import CONFIDENCE
from vanishing_variance.statistics.rounding import rounding

RESAMPLES = 1_999
# Less than this fraction of a sum of squares is rounding.
_NOTHING = 1e-12


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


@dataclass(frozen=True)
class Advantage:
    """How much more one quantity explains than another, r2 - r2, and its 95% interval; None where `note` says why."""

    n: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


def association(
    quantity: np.ndarray,
    accuracy: np.ndarray,
    group: np.ndarray,
    cluster: np.ndarray,
    rng: np.random.Generator,
    given: np.ndarray | None = None,
) -> Association:
    """The correlation of quantity and accuracy, each (n,), once the mean of its `group` is taken off each of them.

    r2 is the within-R2 of a regression with an intercept for every group (fixed effects). With another quantity `given`
    (n,), r is the partial correlation: both are replaced by their residuals on it, after the means are taken off.

    The intervals are 95% percentile intervals over 1,999 resamples of whole clusters (seeds), drawn with replacement;
    group means are taken anew in each. r2 cannot be negative, so its interval leans upwards where little is explained.
    Resamples in which nothing varies are left out, and `note` says how many. `group` and `cluster` are labels (n,).

    Raises ValueError when the arrays differ in shape, are empty or hold numbers that are not finite.
    """
    variables = [accuracy, quantity] if given is None else [accuracy, quantity, given]
    sample = _Sample.of(variables, group, cluster)
    n = len(accuracy)
    still = [name for name, flat in zip(("accuracy", "the quantity", "the given"), sample.flat, strict=False) if flat]
    if still:
        return Association(n, note=f"{' and '.join(still)} does not vary within groups: no correlation")
    of = _plain if given is None else _partial
    r = float(of(sample.products(np.ones((1, sample.clusters))))[0])
    if np.isnan(r):
        return Association(n, note="the given leaves nothing to explain: no correlation")
    if sample.clusters == 1:
        return Association(n, r, r2=r**2, note="one cluster: no interval")
    drawn = of(sample.products(_draw(sample.clusters, rng)))
    (r_low, r_high), (r2_low, r2_high) = _percentiles(drawn), _percentiles(drawn**2)
    return Association(n, r, r_low, r_high, r**2, r2_low, r2_high, _left_out(drawn))


def advantage(
    first: np.ndarray,
    second: np.ndarray,
    accuracy: np.ndarray,
    group: np.ndarray,
    cluster: np.ndarray,
    rng: np.random.Generator,
) -> Advantage:
    """r2 of the quantity `first` less that of `second`, as in `association`, both on the same resamples.

    Raises ValueError as `association` does.
    """
    sample = _Sample.of([accuracy, first, second], group, cluster)
    n = len(accuracy)
    still = [name for name, flat in zip(("accuracy", "the first", "the second"), sample.flat, strict=True) if flat]
    if still:
        return Advantage(n, note=f"{' and '.join(still)} does not vary within groups: no correlation")
    difference = float(_difference(sample.products(np.ones((1, sample.clusters))))[0])
    if sample.clusters == 1:
        return Advantage(n, difference, note="one cluster: no interval")
    drawn = _difference(sample.products(_draw(sample.clusters, rng)))
    return Advantage(n, difference, *_percentiles(drawn), _left_out(drawn))


@dataclass(frozen=True)
class _Sample:
    """What a resample needs of each cluster, so that resampling is a product of matrices.

    `firsts` (C, 1 + K, G), the number of observations and the sums of the variables in each group; `seconds` (C, K, K),
    the sums of their products; `flat`, which variables do not vary within groups.
    """

    firsts: np.ndarray
    seconds: np.ndarray
    flat: list[bool]

    @classmethod
    def of(cls, variables: list[np.ndarray], group: np.ndarray, cluster: np.ndarray) -> "_Sample":
        shapes = {array.shape for array in (*variables, group, cluster)}
        if len(shapes) > 1 or variables[0].ndim != 1 or not variables[0].size:
            raise ValueError(f"association needs arrays of the same observations, not {sorted(shapes)}")
        if not all(np.isfinite(array).all() for array in variables):
            raise ValueError("association needs finite numbers")
        groups, clusters = (np.unique(labels, return_inverse=True)[1] for labels in (group, cluster))
        g, c = groups.max() + 1, clusters.max() + 1
        sizes = np.bincount(groups)
        # Taking the means of all off before a resample's own keeps the digits; the scale keeps every sum near 1.
        centred = [array - (np.bincount(groups, array) / sizes)[groups] for array in variables]
        flat = [bool(np.abs(x).max() <= rounding(array)) for x, array in zip(centred, variables, strict=True)]
        scaled = [x if still else x / x.std() for x, still in zip(centred, flat, strict=True)]
        cells = clusters * g + groups
        firsts = [np.bincount(cells, x, c * g).reshape(c, g) for x in (np.ones(len(cells)), *scaled)]
        seconds = [[np.bincount(clusters, x * y, c) for y in scaled] for x in scaled]
        return cls(np.stack(firsts, axis=1), np.moveaxis(np.array(seconds), -1, 0), flat)

    @property
    def clusters(self) -> int:
        return len(self.firsts)

    def products(self, weights: np.ndarray) -> np.ndarray:
        """The sums of products (K, K, B) around the group means, where cluster c is there weights[b, c] times.

        So one formula is for groups that share clusters and for groups inside them: a group inside a cluster that is
        drawn twice has the same mean, whether it counts as two groups or as one. What does not vary there is NaN.
        """
        counts, sums = np.split(np.tensordot(weights, self.firsts, 1), [1], axis=1)
        uncentred = np.tensordot(weights, self.seconds, 1)
        found = uncentred - np.einsum("bkg,blg->bkl", sums, sums / np.maximum(counts, 1))
        for k in range(found.shape[1]):
            found[found[:, k, k] <= _NOTHING * uncentred[:, k, k], k, k] = np.nan
        return np.moveaxis(found, 0, -1)


def _draw(clusters: int, rng: np.random.Generator) -> np.ndarray:
    """How many times each cluster is in each resample (B, C)."""
    drawn = rng.integers(clusters, size=(RESAMPLES, clusters)) + clusters * np.arange(RESAMPLES)[:, None]
    return np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(float)


def _correlation(products: np.ndarray, one: int, other: int) -> np.ndarray:
    return np.asarray(products[one, other] / np.sqrt(products[one, one] * products[other, other]))


def _plain(products: np.ndarray) -> np.ndarray:
    return _correlation(products, 0, 1)


def _partial(products: np.ndarray) -> np.ndarray:
    direct, *by_given = (_correlation(products, *pair) for pair in ((0, 1), (0, 2), (1, 2)))
    left = [np.where(1 - r**2 > _NOTHING, 1 - r**2, np.nan) for r in by_given]
    return np.asarray((direct - by_given[0] * by_given[1]) / np.sqrt(left[0] * left[1]))


def _difference(products: np.ndarray) -> np.ndarray:
    return np.asarray(_correlation(products, 0, 1) ** 2 - _correlation(products, 0, 2) ** 2)


def _percentiles(drawn: np.ndarray) -> tuple[float, float]:
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = np.quantile(drawn[~np.isnan(drawn)], tails, method="weibull")
    return float(low), float(high)


def _left_out(drawn: np.ndarray) -> str:
    left_out = int(np.isnan(drawn).sum())
    return f"{left_out} of {len(drawn)} resamples left out: nothing varies" if left_out else ""
