"""metrics/claims.json, as `claims.claim.judge` has it."""

from pathlib import Path
from typing import Any

from vanishing_variance.claims.verdict import SIZES, VERDICTS
from vanishing_variance.errors import InputError, shown
from vanishing_variance.io.documents import Judged, read_document


class JudgedAtScale(Judged):
    """A judged claim, with the gradient steps of the models that it is judged by, by task, and the size of a gain."""

    size: str
    steps: dict[str, int]


def read_claims(path: Path) -> dict[str, dict[str, Any]]:
    """Return every judgement by key. Raises InputError on an unknown verdict or size, and as `read_document`."""
    claims: dict[str, dict[str, Any]] = read_document(path, dict[str, JudgedAtScale])
    for key, claim in claims.items():
        for name, allowed in (("verdict", VERDICTS), ("size", tuple(SIZES))):
            if claim[name] not in allowed:
                said = f"{key}.{name} is {shown(claim[name])}; must be one of {', '.join(filter(None, allowed))}"
                raise InputError(f"{path}: {said}")
    return claims
