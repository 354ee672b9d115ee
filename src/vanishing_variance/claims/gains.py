"""Claims about accuracy: one variant is ahead of another beyond the training lengths."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from vanishing_variance.claims import size
from vanishing_variance.claims.differences import ROUNDED, Pair, no_test
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, Rule, one_sided
from vanishing_variance.claims.verdict import SUPPORTED, UNDECIDED
from vanishing_variance.harness.numbers import estimate, power
from vanishing_variance.results.accuracy import pair as accuracies
from vanishing_variance.results.gains import Estimate, gain
from vanishing_variance.statistics.power import seeds_for_power

WORDS = (
    "Each seed's mean accuracy over all test lengths beyond training, {treatment} minus {baseline}, paired by seed. "
    "Supported: its 95% t interval is above 0, and {treatment} is significantly behind at no length beyond training "
    "(paired t-test, p < 0.05 after Holm's correction over these lengths). Contradicted: the interval is below 0. Else "
    "undecided. The verdict rests on points. Beside them the evidence has the gain in log-odds at the shortest test "
    "length, one of training, what it grows by with each doubling, and the points that are left at equal log-odds "
    "there; these decide nothing. Where the baseline is none, the evidence says how far it is below the paper's at "
    f"most, which decides nothing. {size.WORDS} Not comparable where the models are behind the paper's."
)


def ahead(pair: Pair) -> Rule:
    """Return what decides that a pair's treatment has the better accuracy at lengths beyond training."""
    words = WORDS.format(treatment=pair.treatment, baseline=pair.baseline)
    return Rule(words, partial(_ahead, pair), (pair.task,), pair.range_)


def _ahead(pair: Pair, evidence: Evidence) -> Judgement:
    evidence.require([pair.task], pair.range_, pair.treatment, pair.baseline, rule=pair.rule)
    treated, untreated = accuracies(evidence.accuracy, **vars(pair))
    test, views = gain(treated, untreated, evidence.longest[pair.range_], evidence.sequences)
    note = no_test(pair.gains(evidence))
    behind = pair.behind(evidence)
    verdict = UNDECIDED if note else one_sided(test.low, test.high)
    if verdict == SUPPORTED and behind:
        verdict = UNDECIDED
    ours, theirs = pair.accuracies(evidence)
    differences = (ours - theirs).mean()
    leading = int((differences > 0).sum())
    words = [f"ahead at {leading} of {len(differences)} lengths"]
    if behind:
        words.append(f"significantly behind at {', '.join(map(power, behind))}")
    words.append(note or f"p = {test.p:.2g}")
    seeds = None if note else seeds_for_power(test.d_z)
    if seeds and verdict == UNDECIDED:
        words.append(f"{seeds} seeds for 90% power")
    below = pair.below(evidence)
    if below.max() > ROUNDED:
        words.append(f"baseline up to {below.max():.1f} points below the paper's, at {power(int(str(below.idxmax())))}")
    if not np.isnan(views["log_odds"][0]):
        words += _views(views, power(int(untreated.columns[0])))
    paper, found, compared = size.size(pair, evidence, verdict)
    words.append(compared)
    return Judgement(verdict, ", ".join(words), "pp", test.mean, test.low, test.high, paper, test.n, found)


def _views(views: Mapping[str, Estimate], shortest: str) -> list[str]:
    """Return the other two views of the gain in words."""
    at_shortest, *_ = views["log_odds"]
    slope = estimate("+.3f", *views["slope"])
    left = estimate("+.1f", *views["adjusted"])
    return [
        f"log-odds {at_shortest:+.2f} at {shortest} and {slope} a doubling",
        f"{left} left at equal log-odds at {shortest}",
    ]
