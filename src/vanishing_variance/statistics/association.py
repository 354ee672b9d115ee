"""Association of a quantity with accuracy within groups, such as lengths, with intervals over seeds.

n observations, K variables, G groups, C clusters, B resamples.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Real, Shaped

from vanishing_variance.statistics.intervals import CONFIDENCE, NAN
from vanishing_variance.statistics.rounding import rounding

# Resamples of fewer clusters are so few that their quantiles say nothing.
FEWEST = 5
# One less than a round number, so that the ends of a 95% interval are resamples (Davison and Hinkley 1997, 5.2).
RESAMPLES = 1_999
# Less than this fraction of a sum of squares is rounding.
NOTHING = 1e-12


@dataclass(frozen=True)
class Association:
    """The correlation r within groups, its square, the share that is explained, and their 95% intervals.

    `n` is the number of observations. What cannot be computed is NaN, and `note` says why.
    """

    n: int
    r: float = NAN
    r_low: float = NAN
    r_high: float = NAN
    r2: float = NAN
    r2_low: float = NAN
    r2_high: float = NAN
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
    variables = {"accuracy": accuracy, "the quantity": quantity} | ({} if given is None else {"the given": given})
    shapes = {array.shape for array in (*variables.values(), group, cluster)}
    if len(shapes) > 1 or accuracy.ndim != 1 or not accuracy.size:
        raise ValueError(f"association needs arrays of the same observations, not {sorted(shapes)}")
    if not all(np.isfinite(array).all() for array in variables.values()):
        raise ValueError("association needs finite numbers")
    n = len(accuracy)
    groups, clusters = (np.unique(labels, return_inverse=True)[1] for labels in (group, cluster))
    # Taking the means of all off before a resample's own keeps the digits.
    means = {name: np.bincount(groups, array) / np.bincount(groups) for name, array in variables.items()}
    centred = {name: array - means[name][groups] for name, array in variables.items()}
    still = [name for name, array in variables.items() if np.abs(centred[name]).max() <= rounding(array)]
    if still:
        return Association(n, note=f"no variation within groups of {' and '.join(still)}: no correlation")
    sums, c = _sums(list(centred.values()), groups, clusters), clusters.max() + 1
    r = float(_correlation(*sums, np.ones((1, c)))[0])
    if np.isnan(r):
        return Association(n, note="the given leaves nothing to explain: no correlation")
    if c < FEWEST:
        return Association(n, r, r2=r**2, note=f"fewer than {FEWEST} clusters: no interval")
    drawn = rng.integers(c, size=(RESAMPLES, c, 1))
    resampled = _correlation(*sums, (drawn == np.arange(c)).sum(axis=1).astype(float))
    kept = resampled[~np.isnan(resampled)]
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    (r_low, r_high), (r2_low, r2_high) = (np.quantile(of, tails, method="weibull").tolist() for of in (kept, kept**2))
    left_out = RESAMPLES - len(kept)
    note = f"{left_out} of {RESAMPLES} resamples left out: nothing varies" if left_out else ""
    return Association(n, r, r_low, r_high, r**2, r2_low, r2_high, note)


def _sums(
    variables: list[Float[np.ndarray, " n"]], groups: Int[np.ndarray, " n"], clusters: Int[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, "C K_and_1 G"], Float[np.ndarray, "C K K"]]:
    """Return each cluster's number of observations and sums of the variables by group, and the sums of their products.

    So resampling is a product of matrices.
    """
    g, c = groups.max() + 1, clusters.max() + 1
    cells = clusters * g + groups
    firsts = [np.bincount(cells, x, c * g).reshape(c, g) for x in (np.ones(len(cells)), *variables)]
    seconds = [[np.bincount(clusters, x * y, c) for y in variables] for x in variables]
    return np.stack(firsts, axis=1), np.moveaxis(np.array(seconds), -1, 0)


def _correlation(
    firsts: Float[np.ndarray, "C K_and_1 G"], seconds: Float[np.ndarray, "C K K"], weights: Float[np.ndarray, "B C"]
) -> Float[np.ndarray, " B"]:
    """Return r of the first two variables, given the third where there is one, cluster c counted weights[b, c] times.

    One formula is for groups that share clusters and for groups inside them: a group inside a cluster that is drawn
    twice has the same mean, whether it counts as two groups or as one. Where a variable does not vary, r is NaN.
    """
    counts, sums = np.split(np.tensordot(weights, firsts, 1), [1], axis=1)
    uncentred = np.tensordot(weights, seconds, 1)
    products = uncentred - np.einsum("bkg,blg->bkl", sums, sums / np.maximum(counts, 1))
    for k in range(products.shape[1]):
        products[products[:, k, k] <= NOTHING * uncentred[:, k, k], k, k] = np.nan

    def r(one: int, other: int) -> Float[np.ndarray, " B"]:
        squares = products[:, one, one] * products[:, other, other]
        return np.asarray(products[:, one, other] / np.sqrt(squares))

    if products.shape[1] == 2:
        return r(0, 1)
    left = [np.where(1 - of**2 > NOTHING, 1 - of**2, np.nan) for of in (r(0, 2), r(1, 2))]
    return np.asarray((r(0, 1) - r(0, 2) * r(1, 2)) / np.sqrt(left[0] * left[1]))
