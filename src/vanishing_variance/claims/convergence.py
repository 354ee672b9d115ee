"""The claim that the optimisation converges within the paper's number of steps (B.1)."""

from functools import partial

import numpy as np

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Claim, Judgement, one_sided
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.study.scale import paper_steps
from vanishing_variance.study.verdict import NOT_COMPARABLE, NOT_TESTED, UNDECIDED

# A loss that falls as 1/steps falls by 11% from one tenth of the training to the next, the last.
STILL_FALLING = 0.05
RULE = (
    "The training loss of {norm} on the short range: by how much its mean over the last tenth of the paper's {steps:,} "
    "steps is below that over the tenth before, as minus the log of their ratio, for each seed. Supported: the 95% t "
    "interval is below {falling:.0%}, half of what a loss that falls as 1/steps falls by there; contradicted: it is "
    "above; else undecided. Not comparable with fewer steps."
)


def converges(key: str, where: str, says: str, task: str, norm: str) -> Claim:
    """Return the claim that the loss of one normaliser falls no further at the end of the paper's steps."""
    rule = RULE.format(norm=norm, steps=paper_steps(task), falling=STILL_FALLING)
    return Claim(key, where, says, rule, (task,), partial(_converges, task, norm), of_training=False, recorded=False)


def _converges(task: str, norm: str, evidence: Evidence) -> Judgement:
    of, steps = evidence.losses.query("task == @task and norm == @norm"), paper_steps(task)
    if of.empty:
        return Judgement(NOT_TESTED, f"there are no training losses of {norm}")
    made = evidence.steps[task, "short"]
    if made < steps:
        return Judgement(NOT_COMPARABLE, f"{made:,} of {steps:,} steps")
    before, last = (
        of[(of["step"] > share * steps) & (of["step"] <= (share + 0.1) * steps)].groupby("seed")["loss"].mean()
        for share in (0.8, 0.9)
    )
    falls = 100 * np.log(before.to_numpy() / last.to_numpy())
    mean, low, high = interval(falls)
    words = f"mean loss {before.mean():.3g} in the tenth before, {last.mean():.3g} in the last"
    if len(falls) < 2:
        return Judgement(UNDECIDED, f"{words}, one seed: no interval", "% lower in last tenth", mean, n=1)
    verdict = one_sided(100 * STILL_FALLING - high, 100 * STILL_FALLING - low)
    return Judgement(verdict, words, "% lower in last tenth", mean, low, high, None, len(falls))
