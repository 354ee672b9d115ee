"""The page's answer: two sentences, worded by the verdicts on a few claims, with their numbers."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from vanishing_variance.report.formats import MISSING, interval, number
from vanishing_variance.report.strongest import Evidence
from vanishing_variance.study.runs import TASKS
from vanishing_variance.study.verdict import CONTRADICTED, NOT_COMPARABLE, NOT_TESTED, SUPPORTED, UNDECIDED

QUESTION = "Does layer normalisation help on longer sequences, and is vanishing variance why?"
_GAIN = {
    SUPPORTED: "raises accuracy on {}",
    CONTRADICTED: "lowers accuracy on {}",
    UNDECIDED: "shows no consistent gain on {}",
    NOT_COMPARABLE: "cannot be judged yet on {}, whose models are undertrained",
    NOT_TESTED: "was not tested on {}",
}
_VANISHES = {SUPPORTED: "Variance does vanish with length", CONTRADICTED: "Variance does not vanish with length"}
_OPEN = "Whether variance vanishes with length is open"
# A claim on a cause -> its words by verdict, those of open verdicts last, and what its share is of.
_CAUSES = {
    "cause-attention": (
        {
            SUPPORTED: "falling attention on the answer’s item is what costs accuracy",
            CONTRADICTED: "falling attention on the answer’s item is not what costs accuracy",
        },
        "falling attention on the answer’s item may be what costs accuracy",
        " of what is lost",
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
    claims = {key: found.claim for key, found in evidence.items()}
    gains = " and ".join(_gain(task, claims.get(task)) for task in TASKS)
    variance = _VANISHES.get(_verdict(claims.get("vanishing")), _OPEN)
    by_verdicts: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for task in TASKS:
        by_verdicts[tuple(_verdict(claims.get(f"{cause}-{task}")) for cause in _CAUSES)].append(task)
    # What is decided stands first.
    alike = sorted(by_verdicts.values(), key=lambda tasks: not _judged(claims, tasks))
    why = "; ".join(_cause(claims, tasks) for tasks in alike)
    return f"Beyond the training lengths, it {gains}.", f"{variance}; {why}."


def _verdict(claim: Mapping[str, Any] | None) -> str:
    return NOT_TESTED if claim is None else claim["verdict"]


def _gain(task: str, claim: Mapping[str, Any] | None) -> str:
    said = _GAIN[_verdict(claim)].format(task)
    if claim is None or claim["ours"] is None:
        return said
    bounds = interval(claim["low"], claim["high"], "+.1f")
    ours = f"{number(claim['ours'], '+.1f')} points" + ("" if bounds == MISSING else f" [{bounds}]")
    paper = "" if claim["paper"] is None else f"; the paper: {number(claim['paper'], '+.1f')}"
    return f"{said} ({ours}{paper})"


def _judged(claims: Mapping[str, Mapping[str, Any]], tasks: list[str]) -> bool:
    """Return whether the causes of these tasks, which have the same verdicts, are judged at all."""
    found = {_verdict(claims.get(f"{cause}-{tasks[0]}")) for cause in _CAUSES}
    return bool(found - {NOT_COMPARABLE, NOT_TESTED})


def _cause(claims: Mapping[str, Mapping[str, Any]], tasks: list[str]) -> str:
    """Return what costs the accuracy on tasks whose causes have the same verdicts."""
    where = f"on {' and '.join(tasks)}"
    if not _judged(claims, tasks):
        undertrained = NOT_COMPARABLE in (_verdict(claims.get(f"{cause}-{tasks[0]}")) for cause in _CAUSES)
        return f"{where} {'the training was too short to tell' if undertrained else 'the cause is open'}"
    parts = []
    for cause, (words, unclear, of) in _CAUSES.items():
        found = [claims.get(f"{cause}-{task}") for task in tasks]
        shares = [f"{number(one['ours'], '.0f')}%" for one in found if one and one["ours"] is not None]
        said = words.get(_verdict(found[0]), unclear)
        parts.append(f"{said} ({' and '.join(shares)}{of})" if shares else said)
    return f"{where}, {', '.join(parts)}"
