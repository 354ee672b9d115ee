"""The paper's claims and the strongest evidence for each, as the lines of a board and as counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vanishing_variance.report.formats import MISSING, interval, number, raised
from vanishing_variance.report.groups import HEADINGS, in_few_words
from vanishing_variance.report.strongest import Evidence, scale
from vanishing_variance.study.verdict import (
    CONTRADICTED,
    NOT_COMPARABLE,
    NOT_TESTED,
    SUPPORTED,
    UNDECIDED,
    VERDICTS,
    name,
)

# So that a mark does not rest on its colour.
SYMBOLS = {SUPPORTED: "✓", CONTRADICTED: "✗", UNDECIDED: "?", NOT_COMPARABLE: "…", NOT_TESTED: "○"}


@dataclass(frozen=True)
class Mark:
    """A verdict: in full, without what stands in brackets, as a symbol, and as a name for CSS."""

    verdict: str
    short: str
    symbol: str
    kind: str


@dataclass(frozen=True)
class Verdict:
    """A claim as texts, its numbers in `unit`; `point` is what this run says where it is weaker."""

    key: str
    group: str
    words: str
    mark: Mark
    ours: str
    interval: str
    paper: str
    unit: str
    claim: str
    where: str
    size: str
    scale: str
    evidence: str
    rule: str
    point: str


def verdicts(evidence: Mapping[str, Evidence]) -> list[Verdict]:
    """Return a line a claim, in its order."""
    return [_verdict(key, found) for key, found in evidence.items()]


def board(made: Sequence[Verdict]) -> list[tuple[str, str, list[Verdict]]]:
    """Return the groups that have claims: each group's name, heading and lines."""
    groups = [(of, heading, [one for one in made if one.group == of]) for of, heading in HEADINGS.items()]
    return [group for group in groups if group[2]]


def counts(made: Sequence[Verdict]) -> list[tuple[Mark, int]]:
    """Return each verdict's mark, and how many claims have it."""
    return [(mark(verdict), sum(one.mark.verdict == verdict for one in made)) for verdict in VERDICTS]


def mark(verdict: str) -> Mark:
    """Return a verdict's mark."""
    return Mark(verdict, name(verdict, " "), SYMBOLS[verdict], name(verdict, "-"))


def _verdict(key: str, found: Evidence) -> Verdict:
    claim, point = found.claim, found.point
    group, words = in_few_words(key, claim)
    ours, bounds, paper = _numbers(claim)
    return Verdict(
        key=key,
        group=group,
        words=raised(words),
        mark=mark(claim["verdict"]),
        ours=ours,
        interval=bounds,
        paper=paper,
        unit="" if ours == paper == MISSING else claim["unit"],
        claim=raised(claim["claim"]),
        where=claim["where"],
        size=claim["size"],
        scale=scale(claim),
        evidence=raised(claim["evidence"]),
        rule=raised(claim["rule"]),
        point="" if point is None else _point(point),
    )


def _numbers(claim: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return our number, its interval and the paper's number."""
    how = "+.1f" if claim["unit"] == "pp" else ".3g"
    bounds = interval(claim["low"], claim["high"], how)
    return number(claim["ours"], how), "" if bounds == MISSING else f"[{bounds}]", number(claim["paper"], how)


def _point(claim: Mapping[str, Any]) -> str:
    ours, bounds, _ = _numbers(claim)
    said = [part for part in (ours, claim["unit"], bounds) if part]
    return f"{scale(claim)}: {claim['verdict']}, {' '.join(said)}"
