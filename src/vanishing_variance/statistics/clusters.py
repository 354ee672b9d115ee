"""Resamples of whole clusters of observations, with the group means taken off anew in each.

n observations, K variables, G groups, C clusters, B resamples.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Real, Shaped

from vanishing_variance.statistics.intervals import CONFIDENCE
from vanishing_variance.statistics.rounding import rounding

# One less than a round number, so that the ends of a 95% interval are resamples (Davison and Hinkley 1997, 5.2).
RESAMPLES = 1_999
# Less than this fraction of a sum of squares is rounding.
NOTHING = 1e-12


@dataclass(frozen=True)
class Sample:
    """Sums of each cluster that a resample needs, so that resampling is a product of matrices.

    `firsts`, the number of observations and the sums of the variables in each group; `seconds`, the sums of their
    products; `flat`, which variables do not vary within groups.
    """

    firsts: Float[np.ndarray, "C K_and_1 G"]
    seconds: Float[np.ndarray, "C K K"]
    flat: list[bool]

    @classmethod
    def of(
        cls,
        variables: list[Real[np.ndarray, " n"]],
        group: Shaped[np.ndarray, " n"],
        cluster: Shaped[np.ndarray, " n"],
    ) -> "Sample":
        """Return the sample of variables, with labels of groups and of clusters.

        Raises ValueError when they differ in shape, are empty or hold numbers that are not finite.
        """
        shapes = {array.shape for array in (*variables, group, cluster)}
        if len(shapes) > 1 or variables[0].ndim != 1 or not variables[0].size:
            raise ValueError(f"association needs arrays of the same observations, not {sorted(shapes)}")
        if not all(np.isfinite(array).all() for array in variables):
            raise ValueError("association needs finite numbers")
        groups, clusters = (np.unique(labels, return_inverse=True)[1] for labels in (group, cluster))
        g, c = groups.max() + 1, clusters.max() + 1
        sizes = np.bincount(groups)
        # Taking the means of all off before a resample's own keeps the digits.
        centred = [array - (np.bincount(groups, array) / sizes)[groups] for array in variables]
        flat = [bool(np.abs(x).max() <= rounding(array)) for x, array in zip(centred, variables, strict=True)]
        cells = clusters * g + groups
        firsts = [np.bincount(cells, x, c * g).reshape(c, g) for x in (np.ones(len(cells)), *centred)]
        seconds = [[np.bincount(clusters, x * y, c) for y in centred] for x in centred]
        return cls(np.stack(firsts, axis=1), np.moveaxis(np.array(seconds), -1, 0), flat)

    @property
    def clusters(self) -> int:
        """How many there are."""
        return len(self.firsts)

    def products(self, weights: Float[np.ndarray, "B C"]) -> Float[np.ndarray, "K K B"]:
        """Return the sums of products around the group means, with cluster c counted weights[b, c] times.

        So one formula is for groups that share clusters and for groups inside them: a group inside a cluster that is
        drawn twice has the same mean, whether it counts as two groups or as one. What does not vary there is NaN.
        """
        counts, sums = np.split(np.tensordot(weights, self.firsts, 1), [1], axis=1)
        uncentred = np.tensordot(weights, self.seconds, 1)
        found = uncentred - np.einsum("bkg,blg->bkl", sums, sums / np.maximum(counts, 1))
        for k in range(found.shape[1]):
            found[found[:, k, k] <= NOTHING * uncentred[:, k, k], k, k] = np.nan
        return np.moveaxis(found, 0, -1)


def draw(clusters: int, rng: np.random.Generator) -> Float[np.ndarray, "B {clusters}"]:
    """Return how many times each cluster is in each resample."""
    drawn = rng.integers(clusters, size=(RESAMPLES, clusters)) + clusters * np.arange(RESAMPLES)[:, None]
    return np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(float)


def percentiles(drawn: Float[np.ndarray, " B"]) -> tuple[float, float]:
    """Return the ends of the 95% percentile interval of what was drawn; NaN is left out."""
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = np.quantile(drawn[~np.isnan(drawn)], tails, method="weibull")
    return float(low), float(high)
