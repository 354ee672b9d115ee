"""The paper's claims and the strongest evidence for each, as the rows of a table and as counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vanishing_variance.report.formats import MISSING, interval, number, raised
from vanishing_variance.report.strongest import Evidence, scale
from vanishing_variance.study.verdict import VERDICTS, name

# How a number with this unit is written, and what stands behind it.
_UNITS = {"pp": ("+.1f", " pp")}


@dataclass(frozen=True)
class Verdict:
    """A claim as texts; `kind` is its verdict as a name for CSS; `point` is what this run says where it is weaker."""

    claim: str
    where: str
    verdict: str
    size: str
    kind: str
    scale: str
    ours: str
    interval: str
    paper: str
    n: str
    evidence: str
    rule: str
    point: str


def verdicts(evidence: Mapping[str, Evidence]) -> list[Verdict]:
    """Return a row a claim, in its order."""
    return [_verdict(found) for found in evidence.values()]


def counts(made: list[Verdict]) -> list[tuple[str, str, int]]:
    """Return each verdict, its name for CSS, and how many claims have it."""
    return [(verdict, name(verdict, "-"), sum(one.verdict == verdict for one in made)) for verdict in VERDICTS]


def _verdict(found: Evidence) -> Verdict:
    claim, point = found.claim, found.point
    ours, bounds, paper = _numbers(claim)
    return Verdict(
        claim=raised(claim["claim"]),
        where=claim["where"],
        verdict=claim["verdict"],
        size=claim["size"],
        kind=name(claim["verdict"], "-"),
        scale=scale(claim),
        ours=ours,
        interval=bounds,
        paper=paper,
        n=number(claim["n"], "d"),
        evidence=raised(claim["evidence"]),
        rule=raised(claim["rule"]),
        point="" if point is None else _point(point),
    )


def _numbers(claim: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return our number, its interval and the paper's number, in the claim's unit."""
    how, unit = _UNITS.get(claim["unit"], (".3g", f" {claim['unit']}".rstrip().replace(" %", "%")))
    ours, paper = (MISSING if claim[key] is None else number(claim[key], how) + unit for key in ("ours", "paper"))
    bounds = interval(claim["low"], claim["high"], how)
    return ours, "" if bounds == MISSING else bounds, paper


def _point(claim: Mapping[str, Any]) -> str:
    ours, bounds, _ = _numbers(claim)
    return f"{scale(claim)}: {claim['verdict']}, {ours}{f' [{bounds}]' if bounds else ''}"
