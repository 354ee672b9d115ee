"""The paper's claims and the strongest evidence for each, as the lines of a board and as counts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vanishing_variance.claims.verdict import CONTRADICTED, NOT_COMPARABLE, NOT_TESTED, SUPPORTED, UNDECIDED, VERDICTS
from vanishing_variance.report.formats import MISSING, interval, number
from vanishing_variance.report.groups import HEADINGS, in_few_words
from vanishing_variance.report.strongest import Evidence, scale

# So that a mark does not rest on its colour.
SYMBOLS = {SUPPORTED: "✓", CONTRADICTED: "✗", UNDECIDED: "?", NOT_COMPARABLE: "…", NOT_TESTED: "○"}


@dataclass(frozen=True)
class Mark:
    """A verdict: in words, as a symbol, and as a name for CSS."""

    verdict: str
    symbol: str
    kind: str


MARKS = {of: Mark(of, symbol, of.replace(" ", "-")) for of, symbol in SYMBOLS.items()}
# A claim of claims.json, its numbers as texts.
Line = dict[str, Any]


def board(evidence: Mapping[str, Evidence]) -> list[tuple[str, str, list[Line]]]:
    """Return the groups that have claims: each group's name, heading and lines, in the order of the claims."""
    lines = [line(key, found) for key, found in evidence.items()]
    groups = [(of, heading, [one for one in lines if one["group"] == of]) for of, heading in HEADINGS.items()]
    return [group for group in groups if group[2]]


def counts(evidence: Mapping[str, Evidence]) -> list[tuple[Mark, int]]:
    """Return each verdict's mark, and how many claims have it."""
    found = Counter(of.claim["verdict"] for of in evidence.values())
    return [(MARKS[verdict], found[verdict]) for verdict in VERDICTS]


def line(key: str, found: Evidence) -> Line:
    """Return a claim with its numbers as texts, group, mark and scale, and `point`: what this run says, if weaker."""
    claim = found.claim
    group, words = in_few_words(key, claim)
    ours, bounds, paper = _numbers(claim)
    return {
        **claim,
        **{"key": key, "group": group, "words": words, "mark": MARKS[claim["verdict"]], "scale": scale(claim)},
        **{"ours": ours, "interval": bounds, "paper": paper},
        "unit": "" if ours == paper == MISSING else claim["unit"],
        "point": "" if found.point is None else _point(found.point),
    }


def _numbers(claim: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return our number, its interval and the paper's number."""
    how = "+.1f" if claim["unit"] == "pp" else ".3g"
    bounds = interval(claim["low"], claim["high"], how)
    return number(claim["ours"], how), "" if bounds == MISSING else f"[{bounds}]", number(claim["paper"], how)


def _point(claim: Mapping[str, Any]) -> str:
    ours, bounds, _ = _numbers(claim)
    said = [part for part in (ours, claim["unit"], bounds) if part]
    return f"{scale(claim)}: {claim['verdict']}, {' '.join(said)}"
