"""The claim that the optimisation converges within the paper's number of steps (B.1)."""

from dataclasses import replace
from functools import partial

import numpy as np

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, Rule, by_seed, one_sided
from vanishing_variance.claims.verdict import NOT_COMPARABLE, NotTestedError
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.scale import paper_steps

# A loss that falls as 1/steps falls by 11% from one tenth of the training to the next, the last.
STILL_FALLING = 0.05
WORDS = (
    "The training loss of {norm} on the short range: by how much its mean over the last tenth of the paper's {steps:,} "
    "steps is below that over the tenth before, as minus the log of their ratio, for each seed. Supported: the 95% t "
    "interval is below {falling:.0%}, half of what a loss that falls as 1/steps falls by there; contradicted: it is "
    "above; else undecided. Not comparable with fewer steps."
)


def converges(task: str, norm: str) -> Rule:
    """Return what decides that the loss of one normaliser falls no further at the end of the paper's steps."""
    words = WORDS.format(norm=norm, steps=paper_steps(task), falling=STILL_FALLING)
    return Rule(words, partial(_converges, task, norm), (task,))


def _converges(task: str, norm: str, evidence: Evidence) -> Judgement:
    losses = rows(evidence.losses, task=task, norm=norm)
    if losses.empty:
        raise NotTestedError(f"there are no training losses of {norm}")
    steps = paper_steps(task)
    made = evidence.steps[task, "short"]
    if made < steps:
        return Judgement(NOT_COMPARABLE, f"{made:,} of {steps:,} steps")
    means = []
    for share in (0.8, 0.9):
        tenth = losses[(losses["step"] > share * steps) & (losses["step"] <= (share + 0.1) * steps)]
        means.append(tenth.groupby("seed")["loss"].mean())
    before, last = means
    falls = 100 * np.log(before.to_numpy() / last.to_numpy())
    words = f"mean loss {before.mean():.3g} in the tenth before, {last.mean():.3g} in the last"
    found = by_seed(falls, "% lower in last tenth", words)
    margin = 100 * STILL_FALLING
    verdict = one_sided(margin - found.high, margin - found.low)
    return replace(found, verdict=verdict)
