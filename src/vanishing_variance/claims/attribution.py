"""The claim that the reduced distribution shift of O is what improves the accuracy, against a rival explanation."""

from functools import partial

import numpy as np

from vanishing_variance.claims.claim import Claim, Judgement, as_trained, one_sided
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.core.seeding import stream
from vanishing_variance.statistics.association import Advantage, advantage
from vanishing_variance.study.quantities import groups, quantity
from vanishing_variance.study.verdict import CONTRADICTED, NOT_TESTED, SUPPORTED, UNDECIDED

RULE = (
    "Short range, at each test length beyond training between models of all normalisers: the share of the accuracy "
    "(r²) that the shift of O after the normaliser explains, less the share that the attention weight of the target "
    "explains. The paper names no measure of the shift, so there are two: its Wasserstein distance, and the log of its "
    "global variance, each to training. Supported: the 95% bootstrap interval over seeds of one of the two is above 0; "
    "contradicted: those of both are below; else undecided. An association, no experiment. Not comparable where "
    "undertrained."
)


def explains(key: str, where: str, says: str, task: str) -> Claim:
    """Return the claim that the shift of O explains the accuracy better than attention on the target does."""
    return Claim(key, where, says, RULE, (task,), partial(_explains, task))


def _explains(task: str, evidence: Evidence) -> Judgement:
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
    verdict = SUPPORTED if SUPPORTED in verdicts else UNDECIDED if UNDECIDED in verdicts else CONTRADICTED
    words = ", ".join(f"{name}: {_advantage(one)}" for name, one in found.items())
    best = max(found.values(), key=lambda one: -np.inf if one.difference is None else one.difference)
    judged = Judgement(verdict, words, "of r²", best.difference, best.low, best.high, None, of["seed"].nunique())
    return as_trained(judged, evidence, "short", task)


def _advantage(one: Advantage) -> str:
    if one.difference is None or one.low is None:
        return one.note
    return f"{one.difference:+.2f} [{one.low:+.2f}, {one.high:+.2f}]"
