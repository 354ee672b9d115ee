"""Claims about accuracy: one variant is ahead of another beyond the training lengths, or as good as it."""

from functools import partial

from vanishing_variance.claims.claim import (
    NOT_SUPPORTED,
    NOT_TESTED,
    SUPPORTED,
    UNDECIDED,
    Claim,
    Judgement,
)
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.statistics.paired import Comparison

AHEAD = (
    "Each seed's mean accuracy over the test lengths beyond training, {treatment} minus {baseline}, paired by seed. "
    "Supported: its 95% t interval is above 0, and the mean is ahead at every one of these lengths. Not supported: the "
    "interval is below half of the paper's difference (below 0 where the paper's numbers are lost). Else undecided."
)
EQUAL = (
    "The same difference, {treatment} minus {baseline}. Supported: its 95% t interval is within ±1 percentage point. "
    "Not supported: the interval is above 0 or below 0, and not within. Else undecided."
)
MARGIN = 1.0


def ahead(
    key: str, where: str, says: str, task: str, range_: str, treatment: str, baseline: str, temperature: str = "plain"
) -> Claim:
    """The claim that `treatment` has the better accuracy at lengths beyond training."""
    rule = AHEAD.format(treatment=treatment, baseline=baseline)
    return Claim(key, where, says, rule, partial(_ahead, task, range_, treatment, baseline, temperature))


def equal(key: str, where: str, says: str, task: str, range_: str, treatment: str, baseline: str) -> Claim:
    """The claim that two variants have the same accuracy at lengths beyond training, plain softmax."""
    rule = EQUAL.format(treatment=treatment, baseline=baseline)
    return Claim(key, where, says, rule, partial(_equal, task, range_, treatment, baseline))


def _ahead(task: str, range_: str, treatment: str, baseline: str, temperature: str, evidence: Evidence) -> Judgement:
    if not evidence.has(task, range_, treatment, baseline):
        return _absent(task, range_, treatment, baseline)
    test = evidence.gain(task, range_, treatment, baseline, temperature)
    paper = evidence.papers_gain(task, range_, treatment, baseline, temperature)
    lengths, of = evidence.ahead(task, range_, treatment, baseline, temperature)
    verdict = UNDECIDED
    if test.p is not None and test.low is not None and test.high is not None:
        if test.low > 0 and lengths == of:
            verdict = SUPPORTED
        elif test.high < max(0.0, (paper or 0.0) / 2):
            verdict = NOT_SUPPORTED
    return _judgement(verdict, test, paper, f"ahead at {lengths} of {of} lengths")


def _equal(task: str, range_: str, treatment: str, baseline: str, evidence: Evidence) -> Judgement:
    if not evidence.has(task, range_, treatment, baseline):
        return _absent(task, range_, treatment, baseline)
    test = evidence.gain(task, range_, treatment, baseline, "plain")
    verdict = UNDECIDED
    if test.p is not None and test.low is not None and test.high is not None:
        if max(-test.low, test.high) < MARGIN:
            verdict = SUPPORTED
        elif test.low > 0 or test.high < 0:
            verdict = NOT_SUPPORTED
    paper = evidence.papers_gain(task, range_, treatment, baseline, "plain")
    return _judgement(verdict, test, paper, f"d_z {test.effect:+.2f}" if test.effect is not None else "")


def _judgement(verdict: str, test: Comparison, paper: float | None, words: str) -> Judgement:
    p = test.note if test.p is None else f"p = {test.p:.2g}"
    if test.needed is not None and verdict == UNDECIDED:
        p += f", {test.needed} seeds for 90% power"
    said = ", ".join(part for part in (words, p) if part)
    return Judgement(verdict, said, "pp", test.difference, test.low, test.high, paper, test.n)


def _absent(task: str, range_: str, treatment: str, baseline: str) -> Judgement:
    return Judgement(NOT_TESTED, f"{task} was not trained on the {range_} range with {treatment} and {baseline}")
