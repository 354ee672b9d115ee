"""Association of a quantity with accuracy within groups, such as lengths, with intervals over seeds.

n observations, K variables, G groups, C clusters, B resamples.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Real, Shaped

from vanishing_variance.statistics.intervals import CONFIDENCE, FEWEST, NAN, rounding

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
    """
    n = len(accuracy)
    groups = np.unique(group, return_inverse=True)[1]
    clusters = np.unique(cluster, return_inverse=True)[1]
    variables = {"accuracy": accuracy, "the quantity": quantity}
    if given is not None:
        variables["the given"] = given
    centred = []
    constant = []
    for name, values in variables.items():
        # Taking the means of all off before a resample's own keeps the digits.
        means = np.bincount(groups, values) / np.bincount(groups)
        deviations = values - means[groups]
        centred.append(deviations)
        if np.abs(deviations).max() <= rounding(values):
            constant.append(name)
    if constant:
        return Association(n, note=f"no variation within groups of {' and '.join(constant)}: no correlation")

    sums, products = _sums(centred, groups, clusters)
    c = len(sums)
    r = float(_correlation(sums, products, np.ones((1, c)))[0])
    if np.isnan(r):
        return Association(n, note="the given leaves nothing to explain: no correlation")
    if c < FEWEST:
        return Association(n, r, r2=r**2, note=f"fewer than {FEWEST} clusters: no interval")

    drawn = rng.integers(c, size=(RESAMPLES, c, 1))
    counts = (drawn == np.arange(c)).sum(axis=1)
    resampled = _correlation(sums, products, counts.astype(float))
    kept = resampled[~np.isnan(resampled)]
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    r_low, r_high = np.quantile(kept, tails, method="weibull").tolist()
    r2_low, r2_high = np.quantile(kept**2, tails, method="weibull").tolist()
    left_out = RESAMPLES - len(kept)
    note = f"{left_out} of {RESAMPLES} resamples left out: nothing varies" if left_out else ""
    return Association(n, r, r_low, r_high, r**2, r2_low, r2_high, note)


def _sums(
    variables: list[Float[np.ndarray, " n"]], groups: Int[np.ndarray, " n"], clusters: Int[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, "C K_and_1 G"], Float[np.ndarray, "C K K"]]:
    """Return each cluster's number of observations and sums of the variables by group, and the sums of their products.

    So resampling is a product of matrices.
    """
    g = groups.max() + 1
    c = clusters.max() + 1
    cells = clusters * g + groups
    ones = np.ones(len(cells))
    sums = [np.bincount(cells, values, c * g).reshape(c, g) for values in (ones, *variables)]
    products = [[np.bincount(clusters, one * other) for other in variables] for one in variables]
    return np.stack(sums, axis=1), np.moveaxis(np.array(products), -1, 0)


def _correlation(
    sums: Float[np.ndarray, "C K_and_1 G"], products: Float[np.ndarray, "C K K"], weights: Float[np.ndarray, "B C"]
) -> Float[np.ndarray, " B"]:
    """Return r of the first two variables, given the third where there is one, cluster c counted weights[b, c] times.

    One formula is for groups that share clusters and for groups inside them: a group inside a cluster that is drawn
    twice has the same mean, whether it counts as two groups or as one. Where a variable does not vary, r is NaN.
    """
    weighted = np.tensordot(weights, sums, 1)
    counts, totals = weighted[:, :1], weighted[:, 1:]
    uncentred = np.tensordot(weights, products, 1)
    means = totals / np.maximum(counts, 1)
    covariances = uncentred - np.einsum("bkg,blg->bkl", totals, means)
    variances = np.einsum("bkk->bk", covariances)
    constant = variances <= NOTHING * np.einsum("bkk->bk", uncentred)
    variances = np.where(constant, np.nan, variances)
    r = covariances / np.sqrt(variances[:, :, None] * variances[:, None, :])
    r_xy: np.ndarray = r[:, 0, 1]
    if len(variances[0]) == 2:
        return r_xy
    r_xz, r_yz = r[:, 0, 2], r[:, 1, 2]
    left = np.stack([1 - r_xz**2, 1 - r_yz**2])
    left_x, left_y = np.where(left > NOTHING, left, np.nan)
    return np.asarray((r_xy - r_xz * r_yz) / np.sqrt(left_x * left_y))
