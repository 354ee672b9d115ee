"""The numbers of a claim as text."""

from collections.abc import Mapping
from typing import Any

from vanishing_variance.harness.numbers import MISSING, estimate


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
