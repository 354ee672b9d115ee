"""Wilcoxon's signed-rank test, exact where scipy's is not: with ties or zeros, from 14 differences on.

n differences.
"""

import numpy as np
from jaxtyping import Float
from scipy import stats

from vanishing_variance.statistics.intervals import NAN

# Up to so many differences the null distribution is exact; from there on the normal approximation is.
EXACT = 200


def wilcoxon(differences: Float[np.ndarray, " n"], within: float = 0.0) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test (1945) of differences; NaN where none is left.

    Differences of zero are dropped before ranking, as Wilcoxon did; tied ones get the mean of their ranks. Numbers that
    are at most `within` apart count as equal. Up to 200 that are left, p is exact, given the ties: the share of all
    signs, each as probable as the others, whose rank sum is as far out, doubled. Beyond, it is scipy's normal
    approximation, the variance corrected for ties and the statistic by 1/2 for continuity.

    p cannot go below 2 / 2^n: eight seeds never below 0.0078, however far apart the models are.
    """
    left = differences[np.abs(differences) > within]
    if not left.size:
        return NAN
    sizes = np.abs(left)
    order = np.argsort(sizes)
    # Those at most `within` above the next smaller one are on one level, and so tied.
    levels = np.empty(len(left))
    levels[order] = np.cumsum(np.diff(sizes[order], prepend=0) > within)
    if len(left) > EXACT:
        return float(stats.wilcoxon(np.sign(left) * levels, correction=True).pvalue)  # its choice beyond 50
    doubled = np.rint(2 * stats.rankdata(levels)).astype(int)  # mean ranks are whole or half
    total = doubled.sum()
    # The probability of each doubled sum of the positive ranks, a rank more in each step, of either sign.
    probabilities = np.zeros(total + 1)
    probabilities[0] = 1
    for rank in doubled:
        probabilities[rank:] += probabilities[:-rank].copy()
        probabilities /= 2
    positive = doubled[left > 0].sum()
    smaller = min(positive, total - positive)
    p = 2 * probabilities[: smaller + 1].sum()
    return min(1.0, float(p))
