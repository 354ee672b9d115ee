"""Claims about accuracy: one variant is ahead of another beyond the training lengths."""

from functools import partial

import numpy as np
from scipy import stats

from vanishing_variance.claims.differences import Pair
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, Rule, one_sided
from vanishing_variance.claims.verdict import COMPATIBLE, LARGER, SMALLER, SUPPORTED, UNDECIDED
from vanishing_variance.harness.numbers import estimate, power
from vanishing_variance.results.scale import PAPER_SEEDS
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.statistics.power import ALPHA

WORDS = (
    "Each seed's mean accuracy over all test lengths beyond training, {treatment} minus {baseline}, paired by seed. "
    "Supported: its 95% t interval is above 0, and {treatment} is significantly behind at no length beyond training "
    "(paired t-test, p < 0.05 after Holm's correction over these lengths). Contradicted: the interval is below 0. Else "
    "undecided. Size: at the lengths where the paper's two numbers survive, by Welch's t-test of our mean gain "
    "against the paper's (p < 0.05), whose standard error is at most the mean of those that its p-values say, a length "
    "each, with 100 seeds. Not comparable where the models are behind the paper's."
)


def ahead(pair: Pair) -> Rule:
    """Return what decides that a pair's treatment has the better accuracy at lengths beyond training."""
    words = WORDS.format(treatment=pair.treatment, baseline=pair.baseline)
    return Rule(words, partial(_ahead, pair), (pair.task,), pair.range_)


def _ahead(pair: Pair, evidence: Evidence) -> Judgement:
    evidence.require([pair.task], pair.range_, pair.treatment, pair.baseline, rule=pair.rule)
    test = pair.gain(evidence)
    behind = pair.behind(evidence)
    verdict = UNDECIDED if np.isnan(test.p) else one_sided(test.low, test.high)
    if verdict == SUPPORTED and behind:
        verdict = UNDECIDED
    ours, theirs = pair.accuracies(evidence)
    differences = (ours - theirs).mean()
    leading = int((differences > 0).sum())
    words = [f"ahead at {leading} of {len(differences)} lengths"]
    if behind:
        words.append(f"significantly behind at {', '.join(map(power, behind))}")
    words.append(test.note if np.isnan(test.p) else f"p = {test.p:.2g}")
    if test.seeds_for_power and verdict == UNDECIDED:
        words.append(f"{test.seeds_for_power} seeds for 90% power")
    paper, size, compared = _size(pair, evidence, verdict)
    words.append(compared)
    return Judgement(verdict, ", ".join(words), "pp", test.mean, test.low, test.high, paper, test.n, size)


def _size(pair: Pair, evidence: Evidence, verdict: str) -> tuple[float, str, str]:
    """Return the paper's gain over all lengths beyond training, the size of ours beside it, and by what it was judged.

    Where the paper's tables have lost lengths, its gain over all is NaN.
    """
    papers = pair.papers(evidence)
    if papers.empty:
        return NAN, "", "no number of the paper's survives"
    gains = pair.gains(evidence, papers.index)
    paper = float(papers.mean())
    mean, low, high = interval(gains)
    error = pair.papers_error(evidence, papers.index)
    size = ""
    if low < high and verdict in (SUPPORTED, UNDECIDED):
        deviation = gains.std(ddof=1)
        papers_deviation = error * PAPER_SEEDS**0.5
        ours = mean, deviation, len(gains)
        welch = stats.ttest_ind_from_stats(*ours, paper, papers_deviation, PAPER_SEEDS, equal_var=False)
        if welch.pvalue < ALPHA:
            size = SMALLER if mean < paper else LARGER
        elif verdict == SUPPORTED:
            size = COMPATIBLE
    words = f"the paper's standard error at most {error:.2g}"
    _, theirs = pair.accuracies(evidence)
    if len(papers) == len(theirs.columns):
        return paper, size, words
    at = f"at the {len(papers)} of them where the paper's numbers survive {estimate('.3g', mean, low, high)}"
    return NAN, size, f"{at}, the paper's {paper:.3g}, {words}"
