"""The paper's claims and what our numbers say of them, as the rows of a table and as counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vanishing_variance.errors import InputError, shown
from vanishing_variance.report.formats import MISSING, interval, number, raised

VERDICTS = ("supported", "not supported", "undecided", "not tested")
# How a number with this unit is written, and what stands behind it.
_UNITS = {"pp": ("+.1f", " pp")}


@dataclass(frozen=True)
class Verdict:
    """A claim as texts; `kind` is its verdict as a name for CSS."""

    claim: str
    where: str
    verdict: str
    kind: str
    ours: str
    interval: str
    paper: str
    n: str
    evidence: str
    rule: str


def verdicts(claims: Mapping[str, Mapping[str, Any]]) -> list[Verdict]:
    """A row a claim of metrics/claims.json, in its order. Raises InputError on a verdict that is not one."""
    return [_verdict(key, claim) for key, claim in claims.items()]


def counts(made: list[Verdict]) -> list[tuple[str, str, int]]:
    """Each verdict, its name for CSS, and how many claims have it."""
    return [(verdict, _kind(verdict), sum(one.verdict == verdict for one in made)) for verdict in VERDICTS]


def _verdict(key: str, claim: Mapping[str, Any]) -> Verdict:
    if claim["verdict"] not in VERDICTS:
        raise InputError(
            f"metrics/claims.json: {key}.verdict is {shown(claim['verdict'])}; must be one of {', '.join(VERDICTS)}"
        )
    how, unit = _UNITS.get(claim["unit"], (".3g", f" {claim['unit']}".rstrip().replace(" %", "%")))
    ours, paper = (MISSING if claim[key] is None else number(claim[key], how) + unit for key in ("ours", "paper"))
    bounds = interval(claim["low"], claim["high"], how)
    return Verdict(
        claim=raised(claim["claim"]),
        where=claim["where"],
        verdict=claim["verdict"],
        kind=_kind(claim["verdict"]),
        ours=ours,
        interval="" if bounds == MISSING else bounds,
        paper=paper,
        n=number(claim["n"], "d"),
        evidence=raised(claim["evidence"]),
        rule=raised(claim["rule"]),
    )


def _kind(verdict: str) -> str:
    return verdict.replace(" ", "-")
