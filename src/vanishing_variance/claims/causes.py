"""Claims about what costs the accuracy at length, judged by interventions: one thing is set, the rest is left."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, one_sided
from vanishing_variance.study.interventions import ATTENTION, FORMS, TARGET, damaged, kept_long, restored
from vanishing_variance.study.shares import BEYOND, shares
from vanishing_variance.study.verdict import CONTRADICTED, NOT_TESTED, SUPPORTED, UNDECIDED

HALF = 0.5
_ENDS = ("", "_low", "_high")
_MODELS = (
    "Models without a normaliser, trained on the short range, mean accuracy over all test lengths beyond training, "
    "plain softmax; shares of the accuracy that is lost there, with 95% intervals over seeds (Fieller). "
)
TRAINED = " Not comparable where undertrained."
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
    of = evidence.interventions.query("task == @task and range == 'short' and norm == 'none'")
    if (of["length"] > evidence.longest["short"]).any():
        return None
    return Judgement(NOT_TESTED, f"no intervention beyond training in models of {task} without a normaliser")


def _shares(task: str, evidence: Evidence) -> Mapping[tuple[str, str, str], dict[str, Any]]:
    """Return what is measured of models without a normaliser beyond training, by kind, intervention and place."""
    of = evidence.interventions.query("task == @task and range == 'short' and norm == 'none'")
    found = shares(of, evidence.longest)
    found = found[found["scope"] == BEYOND]
    rows = [{str(name): value for name, value in row.items()} for row in found.to_dict("records")]
    return {(row["kind"], row["intervention"], row["where"]): row for row in rows}


def _judged(found: Mapping[str, dict[str, Any]]) -> tuple[list[str], Judgement]:
    """Return each share's side of one half, and the largest as a judgement yet undecided; `found` by words."""
    sides = []
    for row in found.values():
        low, high = (None if pd.isna(row[end]) else row[end] - HALF for end in ("share_low", "share_high"))
        sides.append(one_sided(low, high))
    words = ", ".join(f"{words} {_share(row)}" for words, row in found.items())
    best = max(found.values(), key=lambda row: float("-inf") if pd.isna(row["share"]) else row["share"])
    share, low, high = (None if pd.isna(best[f"share{end}"]) else 100 * float(best[f"share{end}"]) for end in _ENDS)
    return sides, Judgement(UNDECIDED, words, "% of what is lost", share, low, high, n=int(best["n"]))


def _share(row: Mapping[str, Any]) -> str:
    if pd.isna(row["share"]):
        return f"({row['note']})"
    ends = "" if pd.isna(row["share_low"]) else f" [{row['share_low']:.0%}, {row['share_high']:.0%}]"
    return f"{row['share']:.0%}{ends}"


def moments(task: str, evidence: Evidence) -> Judgement:
    """Judge whether the moments of O cost most of the accuracy."""
    if missing := untested(task, evidence):
        return missing
    rows = _shares(task, evidence)
    found = {
        f"{kind} by {form} moments": rows[kind, name(form), "before"]
        for kind, name in (("recovered", restored), ("damage", damaged))
        for form in FORMS
    }
    sides, judged = _judged(found)
    every = all(side == CONTRADICTED for side in sides)
    verdict = SUPPORTED if SUPPORTED in sides else CONTRADICTED if every else UNDECIDED
    return replace(judged, verdict=verdict)


def attention(task: str, evidence: Evidence) -> Judgement:
    """Judge whether the target's attention weight costs most of the accuracy, whatever the moments are."""
    if missing := untested(task, evidence):
        return missing
    rows = _shares(task, evidence)
    found = {
        "recovered by the target's weight": rows["recovered", TARGET, ATTENTION],
        "with the moments of the long length": rows["recovered", kept_long("feature"), "before"],
    }
    sides, judged = _judged(found)
    every = all(side == SUPPORTED for side in sides)
    verdict = SUPPORTED if every else CONTRADICTED if CONTRADICTED in sides else UNDECIDED
    return replace(judged, verdict=verdict)
