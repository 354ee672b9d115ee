"""A treatment against a baseline, paired by seed: the paper's t-test, and tests that need no normal distribution.

S seeds.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from vanishing_variance.statistics.intervals import NAN, bootstrap, interval, rounding
from vanishing_variance.statistics.power import MOST, seeds_for_power
from vanishing_variance.statistics.wilcoxon import wilcoxon


@dataclass(frozen=True)
class Difference:
    """The mean of the differences over n seeds, its 95% t interval, Cohen's d_z and the p of the paired t-test.

    d_z is the mean difference over the standard deviation of the differences; the test is two-sided. What cannot be
    computed is NaN: all of it without a seed, all but the mean with one.
    """

    n: int = 0
    mean: float = NAN
    low: float = NAN
    high: float = NAN
    d_z: float = NAN
    p: float = NAN


@dataclass(frozen=True)
class Comparison(Difference):
    """The same, in the units of the input, and more; `note` says why a number is missing.

    `boot_low` and `boot_high` are the 95% interval by the bootstrap, `p_wilcoxon` is the signed-rank test's, two-sided.
    `seeds_for_power` is how many seeds would show an effect as large as this d_z at alpha = 0.05 in nine studies of
    ten, None without: d_z is itself an estimate, so with few seeds it is only an order of magnitude.
    """

    boot_low: float = NAN
    boot_high: float = NAN
    p_wilcoxon: float = NAN
    seeds_for_power: int | None = None
    note: str = ""


def difference(ours: Float[np.ndarray, " S"], theirs: Float[np.ndarray, " S"]) -> Difference:
    """Return ours minus theirs, paired by seed: the paper's t-test (Section 3.1), by scipy.

    Differences that are equal in every seed, but for rounding, have no d_z: p is 1 where they are 0, else 0, the limit
    of the t-test.
    """
    n = len(ours)
    if n == 0:
        return Difference()
    differences = ours - theirs
    if n == 1:
        return Difference(n, float(differences.mean()))
    mean, low, high = interval(differences)
    smallest = rounding(ours, theirs)
    deviation = float(differences.std(ddof=1))
    if deviation <= smallest:
        limit = 1.0 if abs(mean) <= smallest else 0.0
        return Difference(n, mean, mean, mean, p=limit)
    p = float(stats.ttest_rel(ours, theirs).pvalue)
    return Difference(n, mean, low, high, mean / deviation, p)


def paired(
    treatment: Float[np.ndarray, " S"], baseline: Float[np.ndarray, " S"], rng: np.random.Generator
) -> Comparison:
    """Return the `difference` of two arrays in the same order of seeds, and what needs no normal distribution.

    `rng` draws the bootstrap's resamples.
    """
    differences = treatment - baseline
    test = difference(treatment, baseline)
    if test.n == 1:
        return Comparison(test.n, test.mean, note="one seed: no test")
    boot = None if np.isnan(test.d_z) else bootstrap(differences, rng)
    if boot is None:
        return Comparison(test.n, test.mean, test.mean, test.mean, note="all differences equal: no test")
    seeds = seeds_for_power(test.d_z)
    return Comparison(
        **vars(test),
        boot_low=boot[0],
        boot_high=boot[1],
        p_wilcoxon=wilcoxon(differences, rounding(treatment, baseline)),
        seeds_for_power=seeds,
        note="" if seeds else f"more than {MOST:,} seeds needed",
    )
