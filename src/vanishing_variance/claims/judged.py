"""JSON files that claims are judged by, or that hold the judgements: metrics/capacity.json and claims.json."""

from pathlib import Path
from typing import Any

from pydantic import FiniteFloat

from vanishing_variance.claims.verdict import SIZES, VERDICTS
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.files import read_document
from vanishing_variance.harness.sections import Section


class Judged(Section):
    """A judged claim, with the gradient steps of the models that it is judged by, by task, and the size of a gain."""

    claim: str
    where: str
    verdict: str
    size: str
    ours: FiniteFloat | None
    low: FiniteFloat | None
    high: FiniteFloat | None
    paper: FiniteFloat | None
    unit: str
    n: int | None
    steps: dict[str, int]
    evidence: str
    rule: str


class Compared(Section):
    """metrics/capacity.json, of each task: the result of `capacity.comparison.compare`."""

    answers: int
    differ: FiniteFloat
    logits_differ: FiniteFloat
    logits_deviation: FiniteFloat


def read_claims(path: Path) -> dict[str, dict[str, Any]]:
    """Return every judgement by key. Raises InputError on an unknown verdict or size, and as `read_document`."""
    claims: dict[str, dict[str, Any]] = read_document(path, dict[str, Judged])
    for key, claim in claims.items():
        for name, allowed in (("verdict", VERDICTS), ("size", tuple(SIZES))):
            if claim[name] not in allowed:
                said = f"{key}.{name} is {shown(claim[name])}; must be one of {', '.join(filter(None, allowed))}"
                raise InputError(f"{path}: {said}")
    return claims
