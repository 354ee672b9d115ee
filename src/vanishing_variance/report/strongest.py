"""The strongest evidence for each claim: this run's, or that of the study at the paper's scale."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from vanishing_variance.claims.verdict import NOT_COMPARABLE, NOT_TESTED
from vanishing_variance.harness.sections import get_param
from vanishing_variance.results.paper import PAPER_STEPS

# The study that a run is held against.
PAPER_SCALE = "paper-scale"
# As claims.json has them.
Claims = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Results:
    """The claims of a run or a study, as claims.json has them, its parameters and, for the page, its paired tests."""

    claims: Claims
    params: Mapping[str, Any]
    tests: pd.DataFrame = field(default_factory=pd.DataFrame)


@dataclass(frozen=True)
class Strongest:
    """The judgement that counts; where it is the study's, `weaker` is this run's."""

    claim: Mapping[str, Any]
    weaker: Mapping[str, Any] | None = None


def strongest(run: Results, paper_scale: Results) -> dict[str, Strongest]:
    """Return the stronger evidence of the two by claim, in the run's order.

    The run's alone where its network or attention map is another than the study's. Else what was tested is stronger
    than what was not, models that are trained like the paper's than others, the paper's
    number of steps than fewer, more seeds than fewer, and more test sequences than fewer. The run's where both are as
    strong, or rest on no trained models.
    """
    evidence = {}
    keys = "attention", "network", "network_options", "model"
    is_same_network = all(run.params[key] == paper_scale.params[key] for key in keys)
    others = paper_scale.claims if is_same_network else {}
    for key, ours in run.claims.items():
        theirs = others.get(key)
        if theirs and theirs["steps"] and _strength(theirs, paper_scale) > _strength(ours, run):
            evidence[key] = Strongest(theirs, weaker=ours)
        else:
            evidence[key] = Strongest(ours)
    return evidence


def _strength(claim: Mapping[str, Any], results: Results) -> tuple[bool, bool, bool, int, int]:
    return (
        claim["verdict"] != NOT_TESTED,
        claim["verdict"] != NOT_COMPARABLE,
        all(made >= PAPER_STEPS[task] for task, made in claim["steps"].items()),
        claim["n"] or 0,
        get_param(results.params, "test.sequences", int),
    )
