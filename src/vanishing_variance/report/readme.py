"""The table of verdicts in README.md, between two markers."""

from collections.abc import Iterable, Mapping
from typing import Any

from vanishing_variance.core.errors import InputError
from vanishing_variance.report.strongest import Evidence, scale
from vanishing_variance.study.markdown import row

BEGIN, END = "<!-- verdicts: python -m stages.readme -->", "<!-- end of verdicts -->"
HEAD = ("the claim", "in the paper", "verdict", "scale", "with fewer steps")


def rewritten(text: str, evidence: Iterable[Evidence]) -> str:
    """Return the README with the table of this evidence. Raises InputError where a marker is missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError(f"README.md: the lines {BEGIN} and {END} must be in it, in this order")
    lines = [row(HEAD), row(["---"] * len(HEAD)), *map(_row, evidence)]
    return "\n".join([f"{before}{BEGIN}", "", *lines, "", f"{END}{after}"])


def _row(found: Evidence) -> str:
    claim, point = found.claim, found.point
    verdict = ", ".join(part for part in (claim["verdict"], _gain(claim), claim["size"]) if part)
    fewer = f"{_gain(point)} ({scale(point)})" if point and _gain(point) else ""
    return row([claim["claim"], claim["where"], verdict, scale(claim), fewer])


def _gain(claim: Mapping[str, Any]) -> str:
    """Return our difference in accuracy, empty where the claim is about another number."""
    return f"{claim['ours']:+.1f} pp" if claim["unit"] == "pp" and claim["ours"] is not None else ""
