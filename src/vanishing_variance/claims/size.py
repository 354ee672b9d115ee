"""The size of a gain in accuracy beside the paper's: on average over lengths, and at each.

S seeds.
"""

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.claims.alike import MARGIN
from vanishing_variance.claims.differences import Pair
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.verdict import INDISTINCT, LARGER, SMALLER, SUPPORTED, UNDECIDED
from vanishing_variance.harness.numbers import estimate, power
from vanishing_variance.results.scale import PAPER_SEEDS
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.statistics.power import ALPHA
from vanishing_variance.statistics.welch import welch

WORDS = (
    "Size: at the lengths where the paper's two numbers survive, by Welch's t-test of our mean gain against the "
    "paper's (p < 0.05), whose standard error is at most the mean of those that its p-values say, a length each, with "
    f"100 seeds. Equivalent where the 90% interval of their difference is within ±{MARGIN:g} point. At each length the "
    "same test, after Holm's correction over them."
)


def size(pair: Pair, evidence: Evidence, verdict: str) -> tuple[float, str, str]:
    """Return the paper's gain over all lengths beyond training, the size of ours beside it, and by what it was judged.

    Where the paper's tables have lost lengths, its gain over all is NaN.
    """
    papers = pair.papers(evidence)
    if papers.empty:
        return NAN, "", "no number of the paper's survives"
    ours, theirs = pair.accuracies(evidence)
    by_length = (ours - theirs)[papers.index]
    gains = by_length.mean(axis=1).to_numpy()
    errors = pair.papers_errors(evidence)[papers.index]
    paper, error = float(papers.mean()), float(errors.mean(skipna=False))
    mean, low, high = interval(gains)
    words = [f"the paper's standard error at most {error:.2g}"]
    is_whole = len(papers) == len(theirs.columns)
    if not is_whole:
        at = f"at the {len(papers)} of them where the paper's numbers survive {estimate('.3g', mean, low, high)}"
        words = [at, f"the paper's {paper:.3g}", *words]
    found = ""
    if low < high and verdict in (SUPPORTED, UNDECIDED):
        difference, p, least, most = _compared(gains, paper, error)
        if p < ALPHA:
            found = SMALLER if difference < 0 else LARGER
        elif verdict == SUPPORTED:
            found = INDISTINCT
        words.append(f"ours minus the paper's {estimate('+.2f', difference, least, most)} (90%)")
        if max(-least, most) < MARGIN:
            words.append("equivalent")
        words += _by_length(by_length, papers, errors)
    return paper if is_whole else NAN, found, ", ".join(words)


def _compared(gains: Float[np.ndarray, " S"], paper: float, error: float) -> tuple[float, float, float, float]:
    """Return our mean gain minus the paper's, the p of Welch's test and both ends of the 90% interval."""
    n = len(gains)
    own_error = float(gains.std(ddof=1)) / n**0.5
    difference = float(gains.mean()) - paper
    return difference, *welch(difference, (own_error, error), (n, PAPER_SEEDS))


def _by_length(gains: pd.DataFrame, papers: pd.Series, errors: pd.Series) -> list[str]:
    """Return in words at which lengths, the columns, our gain is significantly larger or smaller than the paper's."""
    compared = []
    for values, paper, error in zip(gains.to_numpy().T, papers, errors, strict=True):
        compared.append(_compared(values, paper, error))
    differences, p, _, _ = np.array(compared).T
    significant = holm(p) < ALPHA
    words = []
    for name, is_side in (("larger", differences > 0), ("smaller", differences < 0)):
        lengths = gains.columns[significant & is_side]
        if len(lengths):
            words.append(f"{name} at {', '.join(map(power, lengths))}")
    return words or ["not distinguishable at any length"]
