"""The page's answer: two sentences, worded by the verdicts on a few claims, with their numbers."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from vanishing_variance.claims.verdict import CONTRADICTED, NOT_COMPARABLE, NOT_TESTED, SUPPORTED, UNDECIDED
from vanishing_variance.harness.runs import TASKS
from vanishing_variance.report.formats import MISSING, beside, interval, number
from vanishing_variance.report.strongest import Evidence

QUESTION = "Does layer normalisation help on longer sequences, and is vanishing variance why?"
_GAIN = {
    SUPPORTED: "raises accuracy on {}",
    CONTRADICTED: "lowers accuracy on {}",
    UNDECIDED: "shows no consistent gain on {}",
    NOT_COMPARABLE: "cannot be judged yet on {}, whose models are behind the paper’s",
    NOT_TESTED: "was not tested on {}",
}
_VANISHES = {SUPPORTED: "Variance does vanish with length", CONTRADICTED: "Variance does not vanish with length"}
_OPEN = "Whether variance vanishes with length is open"
_UNJUDGED = {NOT_COMPARABLE, NOT_TESTED}
# What stands for a claim that is missing.
_NOTHING: Mapping[str, Any] = {"verdict": NOT_TESTED, "ours": None}
# A claim on a cause -> its words by verdict, those of open verdicts last, and what its share is of.
_CAUSES = {
    "cause-attention": (
        {
            SUPPORTED: "falling attention on the answer’s item is what costs accuracy",
            CONTRADICTED: "falling attention on the answer’s item is not what costs accuracy",
        },
        "falling attention on the answer’s item may be what costs accuracy",
        " of what is lost, averaged over lengths",
    ),
    "cause-moments": (
        {
            SUPPORTED: "the outputs’ shifted mean and variance are",
            CONTRADICTED: "the outputs’ shifted mean and variance are not",
        },
        "the outputs’ shifted mean and variance may be",
        "",
    ),
}


def answer(evidence: Mapping[str, Evidence]) -> tuple[str, str]:
    """Return whether layer normalisation helps, and why accuracy is lost; what has no claim counts as not tested."""
    claims = defaultdict(lambda: _NOTHING, {key: found.claim for key, found in evidence.items()})
    gains = " and ".join(_gain(task, claims[task]) for task in TASKS)
    variance = _VANISHES.get(claims["vanishing"]["verdict"], _OPEN)
    by_verdicts: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for task in TASKS:
        by_verdicts[tuple(claims[f"{cause}-{task}"]["verdict"] for cause in _CAUSES)].append(task)
    # What is decided stands first.
    alike = sorted(by_verdicts.items(), key=lambda found: _UNJUDGED.issuperset(found[0]))
    why = "; ".join(_cause(claims, *found) for found in alike)
    return f"Beyond the training lengths, it {gains}.", f"{variance}; {why}."


def _gain(task: str, claim: Mapping[str, Any]) -> str:
    said = _GAIN[claim["verdict"]].format(task)
    if claim["ours"] is None:
        return said
    bounds = interval(claim["low"], claim["high"], "+.1f")
    ours = f"{number(claim['ours'], '+.1f')} pp" + ("" if bounds == MISSING else f" [{bounds}]")
    paper = "" if claim["paper"] is None else number(claim["paper"], "+.1f")
    return f"{said} ({ours}{beside(claim['size'], paper)})"


def _cause(claims: Mapping[str, Mapping[str, Any]], verdicts: tuple[str, ...], tasks: list[str]) -> str:
    """Return what costs the accuracy on tasks whose causes have these verdicts."""
    where = f"on {' and '.join(tasks)}"
    if _UNJUDGED.issuperset(verdicts):
        return f"{where} the cause is open"
    parts = []
    for verdict, (cause, (words, unclear, of)) in zip(verdicts, _CAUSES.items(), strict=True):
        found = [claims[f"{cause}-{task}"]["ours"] for task in tasks]
        shares = [f"{number(ours, '.0f')}%" for ours in found if ours is not None]
        said = words.get(verdict, unclear)
        parts.append(f"{said} ({' and '.join(shares)}{of})" if shares else said)
    return f"{where}, {', '.join(parts)}"
