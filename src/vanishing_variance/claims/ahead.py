"""Claims about accuracy: one variant is ahead of another beyond the training lengths, and how far beside the paper's.

S seeds.
"""

from functools import partial

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy import stats

from vanishing_variance.claims.alike import MARGIN
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, Rule, no_test, one_sided
from vanishing_variance.claims.verdict import INDISTINCT, LARGER, SMALLER, SUPPORTED, UNDECIDED
from vanishing_variance.harness.numbers import estimate, power
from vanishing_variance.results.compare.beside_paper import ROUNDED, papers_errors, papers_gains, papers_numbers
from vanishing_variance.results.compare.gains import gain
from vanishing_variance.results.compare.pairs import Pair
from vanishing_variance.results.scale import PAPER_SEEDS
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.statistics.welch import welch

ALPHA = 0.05
SIZE = (
    "Size: at the lengths where the paper's two numbers survive, by Welch's t-test of our mean gain against the "
    "paper's (p < 0.05), whose standard error is at most the mean of those that its p-values say, a length each, with "
    f"100 seeds. Equivalent where the 90% interval of their difference is within ±{MARGIN:g} point. At each length the "
    "same test, after Holm's correction over them."
)
WORDS = (
    "Each seed's mean accuracy over all test lengths beyond training, {treatment} minus {baseline}, paired by seed. "
    "Supported: its 95% t interval is above 0, and {treatment} is significantly behind at no length beyond training "
    "(paired t-test, p < 0.05 after Holm's correction over these lengths). Contradicted: the interval is below 0. Else "
    "undecided. The verdict rests on points. Beside them the evidence has the gain in log-odds at the shortest test "
    "length, one of training, and the points that are left at equal log-odds there; these decide nothing. Where the "
    "baseline is none, the evidence says how far it is below the paper's at most, which decides nothing. "
    f"{SIZE} Not comparable where the models are behind the paper's."
)


def ahead(pair: Pair) -> Rule:
    """Return what decides that a pair's treatment has the better accuracy at lengths beyond training."""
    words = WORDS.format(treatment=pair.treatment, baseline=pair.baseline)
    return Rule(words, partial(_ahead, pair), (pair.task,), pair.range_)


def _ahead(pair: Pair, evidence: Evidence) -> Judgement:
    evidence.require([pair.task], pair.range_, pair.treatment, pair.baseline, rule=pair.rule)
    treated, untreated = pair.accuracies(evidence.accuracy)
    test, views = gain(treated, untreated, evidence.training.longest[pair.range_], evidence.training.sequences)
    note = no_test(evidence.gains(pair))
    ours, theirs = evidence.beyond(pair)
    behind = lengths_behind(ours - theirs)
    verdict = UNDECIDED if note else one_sided(test.low, test.high)
    if verdict == SUPPORTED and behind:
        verdict = UNDECIDED
    differences = (ours - theirs).mean()
    leading = int((differences > 0).sum())
    words = [f"ahead at {leading} of {len(differences)} lengths"]
    if behind:
        words.append(f"significantly behind at {', '.join(map(power, behind))}")
    words.append(note or f"p = {test.p:.2g}")
    below = _below(pair, theirs, evidence)
    if below.max() > ROUNDED:
        words.append(f"baseline up to {below.max():.1f} points below the paper's, at {power(int(str(below.idxmax())))}")
    if not np.isnan(views["log_odds"][0]):
        shortest = power(int(untreated.columns[0]))
        at_shortest, *_ = views["log_odds"]
        words.append(f"log-odds {at_shortest:+.2f} at {shortest}")
        left = [estimate("+.1f", *views[f"at_{whose}_accuracy"]) for whose in ("baseline", "own")]
        words.append(f"{left[0]} left at the baseline's log-odds at {shortest}, {left[1]} at its own")
    papers = papers_gains(evidence.paper, pair, theirs.columns)
    errors = papers_errors(evidence.paper, pair, theirs.columns)
    paper, found, compared = _size(ours - theirs, papers, errors, verdict)
    words.append(compared)
    return Judgement(verdict, ", ".join(words), "pp", test.mean, test.low, test.high, paper, test.n, found)


def lengths_behind(gains: pd.DataFrame) -> list[int]:
    """Return the lengths, columns, at which gains are significantly below 0: paired t-test, Holm over these lengths."""
    p = []
    for values in gains.to_numpy().T:
        p.append(np.nan if no_test(values) else stats.ttest_1samp(values, 0).pvalue)
    significant = holm(np.array(p)) < ALPHA
    below = gains.columns[significant & (gains.mean() < 0)]
    return [int(length) for length in below]


def _below(pair: Pair, baseline: pd.DataFrame, evidence: Evidence) -> pd.Series:
    """Return by how many percentage points a baseline `none` is below the paper's, by length, the columns."""
    papers = papers_numbers(evidence.paper, pair, baseline.columns)["none"]
    below = papers - baseline.mean()
    return below.dropna() if pair.baseline == "none" else below[:0]


def _size(gains: pd.DataFrame, papers: pd.Series, errors: pd.Series, verdict: str) -> tuple[float, str, str]:
    """Return the paper's gain over all lengths beyond training, the size of ours beside it, and by what it was judged.

    `gains`: ours, a row a seed and a column a length beyond training. Where the paper's tables have lost lengths, its
    gain over all is NaN.
    """
    if papers.empty:
        return NAN, "", "no number of the paper's survives"
    by_length = gains[papers.index]
    errors = errors[papers.index]
    means = by_length.mean(axis=1).to_numpy()
    paper, error = float(papers.mean()), float(errors.mean(skipna=False))
    mean, low, high = interval(means)
    words = [f"the paper's standard error at most {error:.2g}"]
    is_whole = len(papers) == len(gains.columns)
    if not is_whole:
        at = f"at the {len(papers)} of them where the paper's numbers survive {estimate('.3g', mean, low, high)}"
        words = [at, f"the paper's {paper:.3g}", *words]
    found = ""
    if low < high and verdict in (SUPPORTED, UNDECIDED):
        difference, p, least, most = _compared(means, paper, error)
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
    return difference, *welch(difference, (own_error, error), (n - 1, PAPER_SEEDS - 1), confidence=0.9)


def _by_length(gains: pd.DataFrame, papers: pd.Series, errors: pd.Series) -> list[str]:
    """Return in words at which lengths, the columns, our gain is significantly larger or smaller than the paper's."""
    compared = [_compared(*of_length) for of_length in zip(gains.to_numpy().T, papers, errors, strict=True)]
    differences, p, _, _ = np.array(compared).T
    significant = holm(p) < ALPHA
    words = []
    for name, is_side in (("larger", differences > 0), ("smaller", differences < 0)):
        lengths = gains.columns[significant & is_side]
        if len(lengths):
            words.append(f"{name} at {', '.join(map(power, lengths))}")
    return words or ["not distinguishable at any length"]
