"""Claims about Proposition 1, pretrained transformers and capacity, and that the optimisation converges (B.1).

But for the last none is about what training leads to, so they are judged at any scale: Proposition 1 holds for any
weights, a pretrained model is trained by others, and what a model can represent does not depend on how long it trained.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, Rule, by_seed, decided, one_sided
from vanishing_variance.claims.verdict import NOT_COMPARABLE, NotTestedError
from vanishing_variance.probe.strategies import AFTER, BEFORE, FIXED_LAST, PAPER, STRATEGIES
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.scale import PAPER_STEPS

VANISHES = (
    "In the first model of each task with none and with the treatment, items i.i.d.: of the features of O, the share "
    "whose variance falls with N (the 95% interval of its exponent, fitted to the longest lengths, is below 0). "
    "Supported: 95% of them or more in every model; contradicted: less than half in any; else undecided."
)
PROBED = "Judged for the probed model, which the evidence names, by O before W_O; the paper's is Llama-3.2-1B."
FALLS = (
    "The slope of log σ against log N in the probed model, of all its components, for each of the paper's three "
    "ways of drawing sequences. Supported: every component's 95% interval is below 0 for all; "
    f"contradicted: less than half of them for any; else undecided. {PROBED}"
)
HALF = (
    "The mean slope over components for the paper's random tokens without positional encoding, the last one random "
    "too. Supported: within 0.1 of −0.5; contradicted: further away, and no component's 95% interval holds −0.5; else "
    f"undecided. With a fixed last token, as Proposition 1 assumes, it decides nothing. {PROBED}"
)
SLOPE = -0.5
CAPACITY = (
    "Nothing here measures it. The argument: whatever a sequence is, std leaves the D features of O with mean 0 and "
    "variance 1, so two numbers a sequence, mean and scale, which the baseline's layers after O can read, are lost; a "
    "baseline network that answers by them cannot be written as a std network. It is not shown that trained ones do, "
    "nor that every std network can be written as a baseline network."
)

# A loss that falls as 1/steps falls by 11% from one tenth of the training to the next, the last.
STILL_FALLING = 0.05
CONVERGES = (
    "The training loss of {norm} on the short range: by how much its mean over the last tenth of the paper's {steps:,} "
    "steps is below that over the tenth before, as minus the log of their ratio, for each seed. Supported: the 95% t "
    "interval is below {falling:.0%}, half of what a loss that falls as 1/steps falls by there; contradicted: it is "
    "above; else undecided. Not comparable with fewer steps."
)


def vanishes(evidence: Evidence) -> Judgement:
    """Judge Proposition 1 on trained models."""
    words = []
    least = 1.0
    for (task, norm), features in evidence.exponents.groupby(["task", "norm"], sort=False):
        falling = float((features["high"] < 0).mean())
        median = features["exponent"].median()
        words.append(f"{task}/{norm}: {falling:.0%} of the features, median exponent {median:.2f}")
        least = min(least, falling)
    verdict = decided(least >= 0.95, least < 0.5)
    return Judgement(verdict, "; ".join(words), "% of features", 100 * least, n=1)


def falls(evidence: Evidence) -> Judgement:
    """Judge whether the standard deviation of a component falls with length (Figure 1)."""
    words = []
    least = 1.0
    for name, fits in evidence.fits[evidence.fits["strategy"].isin(PAPER)].groupby("strategy", sort=False):
        components, after = rows(fits, place=BEFORE), rows(fits, place=AFTER)
        falling = float((components["high"] < 0).mean())
        means = f"mean slope {components['exponent'].mean():.2f}, after W_O {after['exponent'].mean():.2f}"
        words.append(f"{STRATEGIES[str(name)].title}: {falling:.0%}, {means}")
        least = min(least, falling)
    verdict = decided(least == 1, least < 0.5)
    return _probed(evidence, Judgement(verdict, "; ".join(words), "% of components", 100 * least))


def half(evidence: Evidence) -> Judgement:
    """Judge how fast it falls for random tokens without positional encoding (Figure 1)."""
    said = []
    for name, last in (("random_no_pe", "random"), (FIXED_LAST, "fixed")):
        components = rows(evidence.fits, strategy=name, place=BEFORE)
        mean = float(components["exponent"].mean())
        held = int(((components["low"] <= SLOPE) & (components["high"] >= SLOPE)).sum())
        intervals = f"the 95% interval of {held} of {len(components)} components holds {SLOPE}"
        said.append((mean, held, f"with a {last} last token the mean slope is {mean:.2f}, and {intervals}"))
    (mean, held, words), (_, _, fixed) = said
    verdict = decided(abs(mean - SLOPE) <= 0.1, held == 0)
    return _probed(evidence, Judgement(verdict, f"{words}; {fixed}", "", mean, paper=SLOPE))


def _probed(evidence: Evidence, found: Judgement) -> Judgement:
    """Return the judgement of the probed model, with its name in the evidence."""
    model = evidence.fits["model"].iloc[0]
    return replace(found, evidence=f"{model}: {found.evidence}")


def argued(_: Evidence) -> Judgement:
    """Judge nothing: the claim is an argument."""
    raise NotTestedError("an argument, and no measurement")


def converges(task: str, norm: str) -> Rule:
    """Return what decides that the loss of one normaliser falls no further at the end of the paper's steps."""
    words = CONVERGES.format(norm=norm, steps=PAPER_STEPS[task], falling=STILL_FALLING)
    return Rule(words, partial(_converges, task, norm), (task,))


def _converges(task: str, norm: str, evidence: Evidence) -> Judgement:
    losses = rows(evidence.losses, task=task, norm=norm)
    if losses.empty:
        raise NotTestedError(f"there are no training losses of {norm}")
    steps = PAPER_STEPS[task]
    made = evidence.training.steps[task, "short"]
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
