"""Components of the uncertainty of a mean paired difference: the seeds, and the test sequences.

S seeds, I test sequences.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Real

from vanishing_variance.statistics.intervals import NAN, rounding


@dataclass(frozen=True)
class Components:
    """The standard error of a mean over seeds and sequences, in the units of the differences, and where it comes from.

    `share_seeds`, `share_sequences` and `share_both` are fractions of its square, and sum to 1. What cannot be computed
    is NaN: all with one seed or sequence, the shares where all differences are equal.
    """

    se: float = NAN
    share_seeds: float = NAN
    share_sequences: float = NAN
    share_both: float = NAN


def components(differences: Real[np.ndarray, "S I"]) -> Components:
    """Return the two-way crossed random effects of differences d: every seed is tested on the same sequences.

    d = mean + seed + sequence + both, `both` with what is left, a seed's luck with a sequence. The variances are the
    analysis-of-variance estimates from the mean squares; a negative estimate is set to zero. Then

        se^2 = seed / S + sequence / I + both / (S I).

    A t-test over seeds sees `seed` and `both`, but not `sequence`: that all seeds were tested on the same sequences
    moves all of them together, so its interval is one for these sequences, not for others like them.

    Source: Searle, Casella, McCulloch (1992), Variance Components, chapter 4.
    """
    seeds, sequences = differences.shape
    if seeds == 1 or sequences == 1:
        return Components()
    if np.ptp(differences) <= rounding(differences):
        return Components(se=0.0)
    mean = differences.mean()
    by_seed = differences.mean(1, keepdims=True) - mean
    by_sequence = differences.mean(0, keepdims=True) - mean
    rest = differences - mean - by_seed - by_sequence
    both = (rest**2).sum() / ((seeds - 1) * (sequences - 1))
    seed = (by_seed**2).sum() / (seeds - 1) - both / sequences
    sequence = (by_sequence**2).sum() / (sequences - 1) - both / seeds
    variances = np.maximum([seed, sequence, both], 0)
    parts = variances / [seeds, sequences, seeds * sequences]
    total = parts.sum()
    return Components(float(total**0.5), *(parts / total).tolist())
