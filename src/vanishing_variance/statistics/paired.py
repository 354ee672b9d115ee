"""A treatment against a baseline, paired by seed: the paper's t-test, and tests that need no normal distribution.

S seeds.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from vanishing_variance.statistics.intervals import bootstrap, interval
from vanishing_variance.statistics.power import MOST, seeds_for_power
from vanishing_variance.statistics.rounding import rounding
from vanishing_variance.statistics.wilcoxon import wilcoxon


@dataclass(frozen=True)
class Comparison:
    """A treatment against a baseline, paired by seed. What cannot be computed is None, and `note` says why.

    `difference` is the mean of treatment - baseline, in the units of the input, with its 95% intervals: by Student's
    t, `low` and `high`, and by the bootstrap, `boot_low` and `boot_high`. `d_z` is Cohen's, the mean difference
    over the standard deviation of the differences. `p` is the t-test's, `wilcoxon` the signed-rank test's, two-sided.
    `seeds_for_power` is how many seeds would show an effect as large as this d_z at alpha = 0.05 in nine studies of
    ten: d_z is itself an estimate, so with few seeds it is only an order of magnitude.
    """

    n: int
    difference: float
    low: float | None = None
    high: float | None = None
    boot_low: float | None = None
    boot_high: float | None = None
    d_z: float | None = None
    p: float | None = None
    wilcoxon: float | None = None
    seeds_for_power: int | None = None
    note: str = ""


def paired(
    treatment: Float[np.ndarray, " S"], baseline: Float[np.ndarray, " S"], rng: np.random.Generator
) -> Comparison:
    """Return the paper's paired t-test (Section 3.1), by scipy, of two arrays in the same order of seeds.

    `rng` draws the bootstrap's resamples. Raises ValueError when the arrays differ in shape, are empty or hold numbers
    that are not finite.
    """
    if treatment.shape != baseline.shape or treatment.ndim != 1 or not treatment.size:
        raise ValueError(f"paired needs two arrays of the same seeds, not {treatment.shape} and {baseline.shape}")
    differences = treatment - baseline
    if not np.isfinite(differences).all():
        raise ValueError("paired needs finite numbers")
    n, within = len(differences), rounding(treatment, baseline)
    mean, low, high = interval(differences)
    if n == 1:
        return Comparison(n, mean, note="one seed: no test")
    deviation = float(differences.std(ddof=1))
    boot = bootstrap(differences, rng) if deviation > within else None
    if boot is None:
        return Comparison(n, mean, mean, mean, note="all differences equal: no test")
    d_z = mean / deviation
    seeds = seeds_for_power(d_z)
    return Comparison(
        n=n,
        difference=mean,
        low=low,
        high=high,
        boot_low=boot[0],
        boot_high=boot[1],
        d_z=d_z,
        p=float(stats.ttest_rel(treatment, baseline).pvalue),
        wilcoxon=wilcoxon(differences, within),
        seeds_for_power=seeds,
        note="" if seeds else f"more than {MOST:,} seeds needed",
    )
