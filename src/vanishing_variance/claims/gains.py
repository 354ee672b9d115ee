"""Claims about accuracy: one variant is ahead of another beyond the training lengths."""

from functools import partial

from vanishing_variance.claims.differences import Pair
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Claim, Judgement, one_sided
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.study.markdown import power
from vanishing_variance.study.verdict import AS_LARGE, LARGER, NOT_TESTED, SMALLER, SUPPORTED, UNDECIDED

RULE = (
    "Each seed's mean accuracy over all test lengths beyond training, {treatment} minus {baseline}, paired by seed. "
    "Supported: its 95% t interval is above 0, and {treatment} is significantly behind at no length beyond training "
    "(paired t-test, p < 0.05 after Holm's correction over these lengths). Contradicted: the interval is below 0. Else "
    "undecided. Size: at the lengths where the paper's two numbers survive, by a one-sample t-test of each seed's "
    "gain minus the paper's (p < 0.05: the paper's number is outside our 95% interval); the paper's number "
    "counts as exact, since its uncertainty is unknown. Not comparable where undertrained."
)


def ahead(key: str, where: str, says: str, pair: Pair) -> Claim:
    """Return the claim that a pair's treatment has the better accuracy at lengths beyond training."""
    rule = RULE.format(treatment=pair.treatment, baseline=pair.baseline)
    return Claim(key, where, says, rule, (pair.task,), partial(_ahead, pair), pair.range_)


def _ahead(pair: Pair, evidence: Evidence) -> Judgement:
    if missing := evidence.missing(pair.task, pair.range_, pair.treatment, pair.baseline):
        return Judgement(NOT_TESTED, missing)
    test, behind = pair.gain(evidence), pair.behind(evidence)
    verdict = one_sided(test.low, test.high) if test.p is not None else UNDECIDED
    if verdict == SUPPORTED and behind:
        verdict = UNDECIDED
    lengths = pair.accuracies(evidence)[1].columns
    words = [f"ahead at {len(pair.ahead(evidence))} of {len(lengths)} lengths"]
    words += [f"significantly behind at {', '.join(map(power, behind))}"] if behind else []
    words += [test.note if test.p is None else f"p = {test.p:.2g}"]
    words += [f"{test.seeds_for_power} seeds for 90% power"] if test.seeds_for_power and verdict == UNDECIDED else []
    paper, size, compared = _size(pair, evidence, verdict)
    said = ", ".join([*words, compared] if compared else words)
    return Judgement(verdict, said, "pp", test.difference, test.low, test.high, paper, test.n, size)


def _size(pair: Pair, evidence: Evidence, verdict: str) -> tuple[float | None, str, str]:
    """Return the paper's gain over all lengths beyond training, the size of ours beside it, and where it was judged.

    Where the paper's tables have lost lengths, its gain over all is None.
    """
    papers, lengths = pair.papers(evidence), pair.accuracies(evidence)[1].columns
    if papers.empty:
        return None, "", "no number of the paper's survives"
    mean, low, high = interval(pair.gains(evidence, papers.index))
    paper = float(papers.mean())
    size = ""
    if low < high and verdict in (SUPPORTED, UNDECIDED):
        size = SMALLER if high < paper else LARGER if low > paper else AS_LARGE if verdict == SUPPORTED else ""
    if len(papers) == len(lengths):
        return paper, size, ""
    words = f"at the {len(papers)} of them where the paper's numbers survive {mean:.3g} [{low:.3g}, {high:.3g}]"
    return None, size, f"{words}, the paper's {paper:.3g}"
