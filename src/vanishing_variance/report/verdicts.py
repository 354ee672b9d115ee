"""The numbers of a claim as text."""

from collections.abc import Mapping
from typing import Any

from vanishing_variance.harness.numbers import MISSING, estimate


def ours(claim: Mapping[str, Any]) -> str:
    """Return our number with its 95% interval and unit; – where there is none."""
    text = estimate(_format(claim), claim["ours"], claim["low"], claim["high"]).replace("-", "−")
    return text if text == MISSING else f"{text} {claim['unit']}".strip()


def papers(claim: Mapping[str, Any]) -> str:
    """Return the paper's number; – where there is none."""
    return estimate(_format(claim), claim["paper"]).replace("-", "−")


def _format(claim: Mapping[str, Any]) -> str:
    return "+.1f" if claim["unit"] == "pp" else ".3g"
