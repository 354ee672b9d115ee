"""The strongest evidence for each claim: this run's, or a record's of more training."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vanishing_variance.claims.verdict import NOT_COMPARABLE, NOT_TESTED
from vanishing_variance.harness.sections import get_param
from vanishing_variance.results.scale import paper_steps

# The record that a run is held against: metrics/<RECORD>.
RECORD = "paper-scale"
# Records of another network or training, which the page shows beside it.
OTHER_RECORDS = ("without-biases", "velickovic")
# claims.json: its type when it is read, and in a signature.
CLAIMS = dict[str, dict[str, Any]]
Claims = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Study:
    """A run, or the record of one: its claims.json and params.yaml as documents."""

    claims: Claims
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Evidence:
    """The judgement that counts; where it is the record's, `weaker` is this run's."""

    claim: Mapping[str, Any]
    weaker: Mapping[str, Any] | None = None


def strongest(run: Study, record: Study) -> dict[str, Evidence]:
    """Return the stronger evidence of the two by claim, in the run's order.

    The run's alone where its network or attention map is another than the record's. Else what was tested is stronger
    than what was not, models that are trained like the paper's than others, the paper's
    number of steps than fewer, more seeds than fewer, and more test sequences than fewer. The run's where both are as
    strong, or rest on no trained models.
    """
    evidence = {}
    keys = "attention", "network", "network_options", "model"
    is_same_network = all(run.params[key] == record.params[key] for key in keys)
    recorded = record.claims if is_same_network else {}
    for key, ours in run.claims.items():
        theirs = recorded.get(key)
        if theirs and theirs["steps"] and _strength(theirs, record) > _strength(ours, run):
            evidence[key] = Evidence(theirs, weaker=ours)
        else:
            evidence[key] = Evidence(ours)
    return evidence


def _strength(claim: Mapping[str, Any], study: Study) -> tuple[bool, bool, bool, int, int]:
    return (
        claim["verdict"] != NOT_TESTED,
        claim["verdict"] != NOT_COMPARABLE,
        all(made >= paper_steps(task) for task, made in claim["steps"].items()),
        claim["n"] or 0,
        get_param(study.params, "test.sequences", int),
    )
