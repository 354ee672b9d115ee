"""metrics/claims.json, as `claims.claim.judge` has it."""

from pathlib import Path
from typing import Any

from vanishing_variance.claims.verdict import VERDICTS
from vanishing_variance.errors import InputError, shown
from vanishing_variance.io.documents import Judged, read_document


class JudgedAtScale(Judged):
    """A judged claim, with the gradient steps of the models that it is judged by, by task."""

    steps: dict[str, int]


def read_claims(path: Path) -> dict[str, dict[str, Any]]:
    """Return every claim's judgement by key. Raises InputError on a verdict that is not one, and as `read_document`."""
    claims: dict[str, dict[str, Any]] = read_document(path, dict[str, JudgedAtScale])
    for key, claim in claims.items():
        if claim["verdict"] not in VERDICTS:
            said = f"{key}.verdict is {shown(claim['verdict'])}; must be one of {', '.join(VERDICTS)}"
            raise InputError(f"{path}: {said}")
    return claims
