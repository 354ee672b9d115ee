"""Claims about accuracy: one variant is ahead of another beyond the training lengths."""

from functools import partial

import numpy as np

from vanishing_variance.claims import size
from vanishing_variance.claims.differences import ROUNDED, Pair
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, Rule, one_sided
from vanishing_variance.claims.verdict import SUPPORTED, UNDECIDED
from vanishing_variance.harness.numbers import power

WORDS = (
    "Each seed's mean accuracy over all test lengths beyond training, {treatment} minus {baseline}, paired by seed. "
    "Supported: its 95% t interval is above 0, and {treatment} is significantly behind at no length beyond training "
    "(paired t-test, p < 0.05 after Holm's correction over these lengths). Contradicted: the interval is below 0. Else "
    "undecided. Where the baseline is none, the evidence says how far it is below the paper's at most, which "
    f"decides nothing. {size.WORDS} Not comparable where the models are behind the paper's."
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
    below = pair.below(evidence)
    if below.max() > ROUNDED:
        words.append(f"baseline up to {below.max():.1f} points below the paper's, at {power(int(str(below.idxmax())))}")
    paper, found, compared = size.size(pair, evidence, verdict)
    words.append(compared)
    return Judgement(verdict, ", ".join(words), "pp", test.mean, test.low, test.high, paper, test.n, found)
