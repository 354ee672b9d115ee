"""The verdicts and numbers of claims as text."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from vanishing_variance.claims.verdict import MEANINGS, shown
from vanishing_variance.harness.numbers import MISSING, estimate


def is_papers(claim: Mapping[str, Any]) -> bool:
    """Return whether a claim is the paper's; the others are ours."""
    return not claim["where"].startswith("ours")


def counts(claims: Iterable[Mapping[str, Any]]) -> str:
    """Return the number of claims by verdict, such as "29 supported, 4 contradicted as read"."""
    found = Counter(map(shown, claims))
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in MEANINGS if verdict in found)


def ours(claim: Mapping[str, Any]) -> str:
    """Return our number with its 95% interval and unit; – where there is none."""
    text = _estimate(claim, "ours", "low", "high")
    unit = "" if text == MISSING else claim["unit"]
    return f"{text} {unit}".strip()


def papers(claim: Mapping[str, Any]) -> str:
    """Return the paper's number; – where there is none."""
    return _estimate(claim, "paper")


def _estimate(claim: Mapping[str, Any], *names: str) -> str:
    how = "+.1f" if claim["unit"] == "pp" else ".3g"
    values = [claim[name] for name in names]
    return estimate(how, *values).replace("-", "−")
