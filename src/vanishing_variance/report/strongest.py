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
# The parameters that decide how models are trained, beside those of their task. Which seeds are there, no matter: the
# fewer are a smaller sample of the same.
TRAINING = ("seed", "model", "training")


@dataclass(frozen=True)
class Study:
    """A run, or the record of one: its claims.json and params.yaml as documents."""

    claims: Mapping[str, Mapping[str, Any]]
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Evidence:
    """The judgement that counts, and whether it is the record's; `point`: this run's, where it trained otherwise."""

    claim: Mapping[str, Any]
    recorded: bool = False
    point: Mapping[str, Any] | None = None


def strongest(run: Study, record: Study) -> dict[str, Evidence]:
    """Return the stronger evidence of the two by claim, in the run's order.

    What was tested is stronger than what was not, models that are trained like the paper's than others, the paper's
    number of steps than fewer, more seeds than fewer, and more test sequences than fewer. The run's where both are as
    strong, or rest on no trained models.
    """
    found = {}
    for key, ours in run.claims.items():
        theirs = record.claims.get(key)
        if not theirs or not ours["steps"] or _strength(ours, run) >= _strength(theirs, record):
            found[key] = Evidence(ours)
        else:
            alike = ours["verdict"] == NOT_TESTED or _trained(run, ours) == _trained(record, theirs)
            found[key] = Evidence(theirs, recorded=True, point=None if alike else ours)
    return found


def scale(claim: Mapping[str, Any]) -> str:
    """Return the gradient steps of the models that a claim is judged by, beside the paper's, and n, their seeds.

    Empty where nothing was tested.
    """
    if claim["verdict"] == NOT_TESTED:
        return ""
    steps = {task: (ours, paper_steps(task)) for task, ours in claim["steps"].items()}
    other = {
        task: f"{ours:,} of the paper's {theirs:,} steps" if ours < theirs else f"{ours:,} steps (B.1: {theirs:,})"
        for task, (ours, theirs) in steps.items()
        if ours != theirs
    }
    said = [text if len(steps) == 1 else f"{task} {text}" for task, text in other.items()]
    said = said or ["the paper's steps" if steps else "a pretrained model"]
    if claim["verdict"] == NOT_COMPARABLE and all(ours >= theirs for ours, theirs in steps.values()):
        said.append("baseline below the paper's")
    one = "one model of each task and variant" if len(steps) > 1 else "one model"
    seeds = one if claim["n"] == 1 else f"n = {claim['n']}"
    return ", ".join([*said, seeds] if claim["n"] else said)


def _strength(claim: Mapping[str, Any], study: Study) -> tuple[bool, bool, bool, int, int]:
    tested, verdict = int(get_param(study.params, "test.sequences", int)), claim["verdict"]
    enough = all(ours >= paper_steps(task) for task, ours in claim["steps"].items())
    return verdict != NOT_TESTED, verdict != NOT_COMPARABLE, enough, claim["n"] or 0, tested


def _trained(study: Study, claim: Mapping[str, Any]) -> list[Any]:
    """Return all that decides the models that a claim is judged by."""
    tasks = [f"tasks.{task}.{of}" for task in claim["steps"] for of in ("data", "training")]
    return [claim["steps"], *(get_param(study.params, key, Any) for key in ("ranges", *tasks, *TRAINING))]
