"""Claims about attention and its outputs O: what changes with length, and what a normaliser does about it.

They are about models that the paper's training leads to, on both tasks: undertrained ones say nothing of them, but
where the models of one task are trained like the paper's and refute a claim, it is refuted (`together`).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from vanishing_variance.claims.claim import Claim, Judgement, as_trained, one_sided, together
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.verdict import NOT_SUPPORTED, NOT_TESTED, SUPPORTED, UNDECIDED
from vanishing_variance.mechanism.explanation import QUANTITIES, groups, quantity
from vanishing_variance.seeding import stream
from vanishing_variance.statistics.association import Advantage, advantage
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.study import TASKS

# A number a row of `Evidence.inside`, and the unit that its mean over lengths is shown in.
Measure = Callable[[pd.DataFrame], pd.Series]

BOTH = "On both tasks, of which the worse counts, short range; all seeds, over the test lengths beyond training: "
SIGN = (
    " Supported: the 95% t interval over seeds is on that side of 0; not supported: on the other; else undecided. Not "
    "comparable where undertrained."
)


def changes(key: str, where: str, says: str, rule: str, norm: str, measure: Measure, unit: str) -> Claim:
    """The claim that a measure of the models of one normaliser is above 0 beyond training."""
    return Claim(
        key, where, says, f"{BOTH}{rule}{SIGN}", TASKS, partial(_over_tasks, partial(_changes, norm, measure, unit))
    )


def smaller(key: str, where: str, says: str, rule: str, measure: Measure, unit: str) -> Claim:
    """The claim that a measure is smaller with `ln` than with `none`, paired by seed."""
    return Claim(key, where, says, f"{BOTH}{rule}{SIGN}", TASKS, partial(_over_tasks, partial(_smaller, measure, unit)))


def log_ratio(name: str) -> Measure:
    """log2 of a variance over that at the training lengths."""
    return lambda of: (of[name] / of[f"trained_{name}"]).map(np.log2)


def _over_tasks(judge: Callable[[Evidence, str], Judgement], evidence: Evidence) -> Judgement:
    return together({task: as_trained(judge(evidence, task), evidence, task, "short") for task in TASKS})


def _changes(norm: str, measure: Measure, unit: str, evidence: Evidence, task: str) -> Judgement:
    values = _values(evidence, task, norm, measure)
    return _judged(values, unit) if values.size else Judgement(NOT_TESTED, evidence.missing(task, "short", norm))


def _smaller(measure: Measure, unit: str, evidence: Evidence, task: str) -> Judgement:
    none, ln = (_values(evidence, task, norm, measure) for norm in ("none", "ln"))
    if not (none.size and ln.size):
        return Judgement(NOT_TESTED, evidence.missing(task, "short", "none", "ln"))
    found = _judged(none - ln, unit)
    words = f"none {none.mean():.3g}, ln {ln.mean():.3g}"
    return Judgement(found.verdict, words, unit, found.ours, found.low, found.high, None, found.n)


def _values(evidence: Evidence, task: str, norm: str, measure: Measure) -> np.ndarray:
    """A number a seed."""
    of = evidence.inside(task, norm)
    return evidence.per_seed(task, norm, measure(of)) if len(of) else np.empty(0)


def _judged(values: np.ndarray, unit: str) -> Judgement:
    mean, low, high = interval(values)
    several = len(values) > 1
    verdict = one_sided(low, high) if several else UNDECIDED
    words = f"{mean:.3g} [{low:.3g}, {high:.3g}]" if several else f"{mean:.3g}, one seed: no interval"
    return Judgement(verdict, words, unit, mean, low if several else None, high if several else None, None, len(values))


DRIFTS = (
    f"{BOTH}the global mean differs from that at the training lengths by more than 1.96 standard errors over "
    "sequences, at the longest length, in so many models that a binomial test against 5% has p < 0.05 (supported), "
    "else undecided; and the "
    "log2 ratio of the global variance to that of training is below 0." + SIGN
)


def drifts(key: str, where: str, says: str) -> Claim:
    """The claim that without a normaliser the global mean drifts and the global variance decays."""
    return Claim(key, where, says, DRIFTS, TASKS, partial(_over_tasks, _drifts))


def _drifts(evidence: Evidence, task: str) -> Judgement:
    of = evidence.inside(task, "none")
    if of.empty:
        return Judgement(NOT_TESTED, evidence.missing(task, "short", "none"))
    decay = _judged(-_values(evidence, task, "none", log_ratio("variance_before")), "log2 ratio")
    last = of[of["length"] == of["length"].max()]
    error = np.hypot(last["mean_se_before"], last["trained_mean_se_before"])
    moved = int(((last["mean_before"] - last["trained_mean_before"]).abs() > 1.96 * error).sum())
    mean = SUPPORTED if binomtest(moved, len(last), 0.05, alternative="greater").pvalue < 0.05 else UNDECIDED
    words = f"mean drifts in {moved} of {len(last)} models; log2 of the variance falls by {decay.evidence}"
    verdict = decay.verdict if mean == SUPPORTED or decay.verdict == NOT_SUPPORTED else UNDECIDED
    return Judgement(verdict, words, decay.unit, decay.ours, decay.low, decay.high, None, decay.n)


# A drift of a hundredth of a standard deviation, squared: what is smaller than this without a normaliser needs none.
NO_DRIFT = 1e-4
KEEPS = (
    f"{BOTH}of |log2(global variance over that of training)| and of the squared drift of the global mean from "
    "training, in variances of training and less its own sampling error, that of none less that of ln (after the "
    "normaliser)." + SIGN + " Both must be. Where none's mean drifts by less than a hundredth of a standard "
    "deviation, there is nothing to preserve, and the mean is undecided."
)


def keeps(key: str, where: str, says: str) -> Claim:
    """The claim that `ln` keeps the global variance and the global mean nearer to those of training."""
    return Claim(key, where, says, KEEPS, TASKS, partial(_over_tasks, _keeps))


def _keeps(evidence: Evidence, task: str) -> Judgement:
    measures = {
        "variance": (lambda of: log_ratio("variance_after")(of).abs(), "absolute log2 ratio"),
        "mean": (QUANTITIES["drift_after"][1], "variances"),
    }
    found = {name: _smaller(measure, unit, evidence, task) for name, (measure, unit) in measures.items()}
    drift = _values(evidence, task, "none", measures["mean"][0])
    if found["mean"].verdict != NOT_TESTED and drift.mean() < NO_DRIFT:
        found["mean"] = replace(found["mean"], verdict=UNDECIDED)
    return together(found)


EXPLAINS = (
    "On both tasks, of which the worse counts, short range, at each test length beyond training between models of all "
    "normalisers: the share of the accuracy that the shift of O after the normaliser explains (its Wasserstein "
    "distance, and the log of its global variance, each to training), less the share that the attention weight of the "
    "target explains. Supported: the 95% bootstrap interval over seeds of one of the two is above 0; not supported: "
    "both are below; else undecided. Not comparable where undertrained."
)


def explains(key: str, where: str, says: str) -> Claim:
    """The claim that the shift of O is what makes the difference, against its rival, attention on the target."""
    return Claim(key, where, says, EXPLAINS, TASKS, partial(_over_tasks, _explains))


def _explains(evidence: Evidence, task: str) -> Judgement:
    of = evidence.mechanism.query("task == @task and range == 'short'")
    of = of[of["length"] > evidence.longest["short"]]
    if of.empty:
        return Judgement(NOT_TESTED, evidence.missing(task, "short"))
    target, accuracy = quantity(of, "target"), of["accuracy"].to_numpy()
    found = {}
    for words, name in (("Wasserstein", "shift_after"), ("variance", "variance_after")):
        rng = stream(evidence.root, "advantage", task, name)
        length, seed = groups(of, ["length"]), of["seed"].to_numpy()
        found[words] = advantage(quantity(of, name), target, accuracy, length, seed, rng)
    verdicts = [one_sided(one.low, one.high) for one in found.values()]
    verdict = SUPPORTED if SUPPORTED in verdicts else UNDECIDED if UNDECIDED in verdicts else NOT_SUPPORTED
    words = ", ".join(f"{name}: {_advantage(one)}" for name, one in found.items())
    best = max(found.values(), key=lambda one: -np.inf if one.difference is None else one.difference)
    return Judgement(verdict, words, "of r²", best.difference, best.low, best.high, None, of["seed"].nunique())


def _advantage(one: Advantage) -> str:
    if one.difference is None or one.low is None:
        return one.note
    return f"{one.difference:+.2f} [{one.low:+.2f}, {one.high:+.2f}]"
