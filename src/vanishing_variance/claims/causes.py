"""Claims about what costs the accuracy at length, judged by interventions: one thing is set, the rest is left."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, one_sided
from vanishing_variance.claims.verdict import CONTRADICTED, NOT_TESTED, SUPPORTED, UNDECIDED
from vanishing_variance.harness.markdown import estimate
from vanishing_variance.measure.interventions.names import ATTENTION, FORMS, TARGET, damaged, kept_long, restored
from vanishing_variance.results.shares import BEYOND, shares

HALF = 0.5
_MODELS = (
    "Models without a normaliser, trained on the short range, mean accuracy over all test lengths beyond training, "
    "plain softmax; shares of the accuracy that is lost there, with 95% intervals over seeds (Fieller). "
)
TRAINED = " Not comparable where the models are behind the paper's."
MOMENTS = (
    f"{_MODELS}Recovered: what comes back where O is shifted and scaled to its moments of the training lengths; "
    "damage: what sequences of the training lengths lose where O has the moments of the long ones. Both with the "
    "global mean and standard deviation, as the paper has it, and with every feature's, the stronger form; moments of "
    "other sequences. Supported: one of the four intervals is above one half. Contradicted: all four are below. Else "
    f"undecided.{TRAINED}"
)
TARGET_WEIGHT = (
    f"{_MODELS}The target's attention weight is drawn from those of the training lengths, the other weights scaled to "
    "the rest. Recovered: what comes back; and what comes back where every feature's moments are then set to what they "
    "were. Supported: both intervals are above one half. Contradicted: one of the two is below. Else undecided."
    f"{TRAINED}"
)


def untested(task: str, evidence: Evidence) -> Judgement | None:
    """Return that a claim is not tested, where nothing was intervened in beyond training."""
    if (evidence.intervened(task)["length"] > evidence.longest["short"]).any():
        return None
    return Judgement(NOT_TESTED, f"no intervention beyond training in models of {task} without a normaliser")


def _judged(task: str, evidence: Evidence, wanted: Mapping[str, tuple[str, str, str]]) -> tuple[list[str], Judgement]:
    """Return each share's side of one half, and the largest as a judgement yet undecided.

    `wanted`, by words: kind, intervention and place of a share of models without a normaliser beyond training.
    """
    of = shares(evidence.intervened(task), evidence.longest)
    found = of[of["scope"] == BEYOND].set_index(["kind", "intervention", "where"]).loc[[*wanted.values()]].reset_index()
    sides = [one_sided(*ends) for ends in (found[["share_low", "share_high"]] - HALF).to_numpy()]
    of_each = zip(wanted, found[["share", "share_low", "share_high"]].to_numpy(), found["note"], strict=True)
    words = [
        f"{name} {f'({note})' if np.isnan(share[0]) else estimate('.0%', *share)}" for name, share, note in of_each
    ]
    best = found.sort_values("share", ascending=False, kind="stable").iloc[0]
    ours, low, high = (100 * best[name] for name in ("share", "share_low", "share_high"))
    return sides, Judgement(UNDECIDED, ", ".join(words), "% of what is lost", ours, low, high, n=int(best["n"]))


def moments(task: str, evidence: Evidence) -> Judgement:
    """Judge whether the moments of O cost most of the accuracy."""
    if missing := untested(task, evidence):
        return missing
    wanted = {
        f"{kind} by {form} moments": (kind, name(form), "before")
        for kind, name in (("recovered", restored), ("damage", damaged))
        for form in FORMS
    }
    sides, judged = _judged(task, evidence, wanted)
    every = set(sides) == {CONTRADICTED}
    return replace(judged, verdict=SUPPORTED if SUPPORTED in sides else CONTRADICTED if every else UNDECIDED)


def attention(task: str, evidence: Evidence) -> Judgement:
    """Judge whether the target's attention weight costs most of the accuracy, whatever the moments are."""
    if missing := untested(task, evidence):
        return missing
    wanted = {
        "recovered by the target's weight": ("recovered", TARGET, ATTENTION),
        "with the moments of the long length": ("recovered", kept_long("feature"), "before"),
    }
    sides, judged = _judged(task, evidence, wanted)
    every = set(sides) == {SUPPORTED}
    return replace(judged, verdict=SUPPORTED if every else CONTRADICTED if CONTRADICTED in sides else UNDECIDED)
