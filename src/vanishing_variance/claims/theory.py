"""Proposition 1, a pretrained decoder, and the end of the training: judged at any scale.

Proposition 1 holds for any weights, a pretrained model is trained by others, and what a model can represent does not
depend on how long it trained.
"""

import numpy as np

from vanishing_variance.claims.criteria import SLOPE
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.paper import Claim, Measured, by_seed
from vanishing_variance.claims.verdict import NOT_COMPARABLE, NotTestedError
from vanishing_variance.probe.strategies import AFTER, BEFORE, FIXED_LAST, PAPER
from vanishing_variance.results.columns import rows
from vanishing_variance.results.paper import PAPER_STEPS


def features(claim: Claim, evidence: Evidence) -> Measured:
    """Measure the share of features whose variance falls with length, the smallest of all models."""
    words = []
    shares = []
    measured = evidence.exponents
    measured = measured[measured["task"].isin(claim.tasks.split())]
    if measured.empty:
        raise NotTestedError(f"measured on none of {claim.tasks}")
    for (task, norm), of_model in measured.groupby(["task", "line"], sort=False):
        shares.append(float((of_model["high"] < 0).mean()))
        median = of_model["exponent"].median()
        words.append(f"{task}/{norm}: {shares[-1]:.0%} of the features, median exponent {median:.2f}")
    return Measured("; ".join(words), "% of features", 100 * min(shares), n=1)


def components(_: Claim, evidence: Evidence) -> Measured:
    """Measure the share of components whose deviation falls with length, the smallest of the paper's strategies."""
    words = []
    shares = []
    for name, strategy in PAPER.items():
        fits = rows(evidence.fits, strategy=name)
        before, after = rows(fits, place=BEFORE), rows(fits, place=AFTER)
        shares.append(float((before["high"] < 0).mean()))
        means = f"mean slope {before['exponent'].mean():.2f}, after W_O {after['exponent'].mean():.2f}"
        words.append(f"{strategy.title}: {shares[-1]:.0%}, {means}")
    return Measured(_probed(evidence, words), "% of components", 100 * min(shares))


def slope(_: Claim, evidence: Evidence) -> Measured:
    """Measure the mean slope for random tokens without positional encoding; `intervals`: of its components."""
    words = []
    means = []
    intervals = []
    for name, last in (("random_no_pe", "random"), (FIXED_LAST, "fixed")):
        fits = rows(evidence.fits, strategy=name, place=BEFORE)
        ends = fits[["low", "high"]].to_numpy()
        means.append(float(fits["exponent"].mean()))
        held = int(((ends[:, 0] <= SLOPE) & (ends[:, 1] >= SLOPE)).sum())
        of_components = f"the 95% interval of {held} of {len(fits)} components holds {SLOPE}"
        words.append(f"with a {last} last token the mean slope is {means[-1]:.2f}, and {of_components}")
        intervals.append(ends)
    return Measured(_probed(evidence, words), "", means[0], paper=SLOPE, intervals=intervals[0])


def _probed(evidence: Evidence, words: list[str]) -> str:
    """Return words with the name of the probed model."""
    return f"{evidence.fits['model'].iloc[0]}: {'; '.join(words)}"


def argued(_: Claim, __: Evidence) -> Measured:
    """Measure nothing: the claim is an argument."""
    raise NotTestedError("an argument, and no measurement")


def loss_falls(claim: Claim, evidence: Evidence) -> Measured:
    """Measure by how much the loss over the last tenth of the paper's steps is below that over the tenth before."""
    task, line = claim.pair.task, claim.treatment
    losses = rows(evidence.losses, task=task, line=line)
    if losses.empty:
        raise NotTestedError(f"there are no training losses of {line}")
    steps = PAPER_STEPS[task]
    made = evidence.training.steps[task, line]
    if made < steps:
        raise NotTestedError(f"{made:,} of {steps:,} steps", NOT_COMPARABLE)
    width = int(losses["step"].min())
    if steps // 10 % width:
        raise NotTestedError(f"losses are means over {width:,} steps, which do not divide a tenth of {steps:,}")
    means = []
    for share in (0.8, 0.9):
        tenth = losses[(losses["step"] > share * steps) & (losses["step"] <= (share + 0.1) * steps)]
        means.append(tenth.groupby("seed")["loss"].mean())
    before, last = means
    falls = 100 * np.log(before.to_numpy() / last.to_numpy())
    words = f"mean loss {before.mean():.3g} in the tenth before, {last.mean():.3g} in the last"
    return by_seed(falls, "% lower in last tenth", words)
