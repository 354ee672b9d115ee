"""Claims about accuracy: one variant is ahead of another beyond the training lengths, or as good as it.

They are about what the paper's training leads to: undertrained models say nothing of them (`as_trained`).
"""

from functools import partial

from vanishing_variance.claims.claim import Claim, Judgement, as_trained
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.verdict import NOT_SUPPORTED, NOT_TESTED, SUPPORTED, UNDECIDED
from vanishing_variance.statistics.paired import Comparison

AHEAD = (
    "Each seed's mean accuracy beyond the training lengths, {treatment} minus {baseline}, paired by seed, over the "
    "lengths at which the paper's two numbers survive (all, where none do). Supported: its 95% t interval is above 0, "
    "and the mean is ahead at every test length beyond training. Not supported: the interval is below half of the "
    "paper's difference over the same lengths (below 0 where its numbers are lost). Else undecided. "
    "Not comparable where undertrained."
)
EQUAL = (
    "Each seed's mean accuracy beyond the training lengths, {treatment} minus {baseline}, paired by seed. Supported: "
    "its 95% t interval is within ±1 percentage point, the paper's difference of the two on argmax. Not supported: the "
    "interval is above 0 or below 0, and not within. Else undecided. Not comparable where undertrained."
)
MARGIN = 1.0


def ahead(
    key: str, where: str, says: str, task: str, range_: str, treatment: str, baseline: str, temperature: str = "plain"
) -> Claim:
    """The claim that `treatment` has the better accuracy at lengths beyond training."""
    rule = AHEAD.format(treatment=treatment, baseline=baseline)
    judge = partial(_ahead, task, range_, treatment, baseline, temperature)
    return Claim(key, where, says, rule, (task,), judge, range_)


def equal(key: str, where: str, says: str, task: str, range_: str, treatment: str, baseline: str) -> Claim:
    """The claim that two variants have the same accuracy at lengths beyond training, plain softmax."""
    rule = EQUAL.format(treatment=treatment, baseline=baseline)
    return Claim(key, where, says, rule, (task,), partial(_equal, task, range_, treatment, baseline), range_)


def _ahead(task: str, range_: str, treatment: str, baseline: str, temperature: str, evidence: Evidence) -> Judgement:
    if missing := evidence.missing(task, range_, treatment, baseline):
        return Judgement(NOT_TESTED, missing)
    pair = (task, range_, treatment, baseline, temperature)
    theirs = evidence.papers_gains(*pair)
    paper = float(theirs.mean()) if len(theirs) else None
    test = evidence.gain(*pair, lengths=[int(length) for length in theirs.index])
    ahead, of = evidence.ahead(*pair)
    verdict = UNDECIDED
    if test.p is not None and test.low is not None and test.high is not None:
        if test.low > 0 and ahead == of:
            verdict = SUPPORTED
        elif test.high < max(0.0, (paper or 0.0) / 2):
            verdict = NOT_SUPPORTED
    words = f"ahead at {ahead} of {of} lengths"
    if 0 < len(theirs) < of:
        words += f" (the numbers are over the {len(theirs)} of which the paper's survive)"
    return as_trained(_judgement(verdict, test, paper, words), evidence, task, range_)


def _equal(task: str, range_: str, treatment: str, baseline: str, evidence: Evidence) -> Judgement:
    if missing := evidence.missing(task, range_, treatment, baseline):
        return Judgement(NOT_TESTED, missing)
    test = evidence.gain(task, range_, treatment, baseline, "plain")
    verdict = UNDECIDED
    if test.p is not None and test.low is not None and test.high is not None:
        if max(-test.low, test.high) < MARGIN:
            verdict = SUPPORTED
        elif test.low > 0 or test.high < 0:
            verdict = NOT_SUPPORTED
    words = f"d_z {test.effect:+.2f}" if test.effect is not None else ""
    return as_trained(_judgement(verdict, test, None, words), evidence, task, range_)


def _judgement(verdict: str, test: Comparison, paper: float | None, words: str) -> Judgement:
    p = test.note if test.p is None else f"p = {test.p:.2g}"
    if test.needed is not None and verdict == UNDECIDED:
        p += f", {test.needed} seeds for 90% power"
    said = ", ".join(part for part in (words, p) if part)
    return Judgement(verdict, said, "pp", test.difference, test.low, test.high, paper, test.n)
