"""Verdicts on claims (claims.json) that differ between two states."""

import json
from collections.abc import Mapping
from typing import Any

from results_review.commands import ReviewError

NONE = "–"


def flips(before: str, after: str) -> list[tuple[str, str, str, str]]:
    """Return the claims whose verdict or its size differs: (claim, where the paper makes it, verdicts, our numbers).

    In the order of the claims, those that are gone last; nothing where a state has no claims. `before`, `after`: JSON
    texts, key -> {claim, where, verdict, size, ours, unit}; empty where there is no file. Raises ReviewError where one
    is not JSON.
    """
    try:
        old, new = (json.loads(text or "{}") for text in (before, after))
    except ValueError as problem:
        raise ReviewError(f"the claims cannot be read as JSON: {problem}") from None
    found = []
    for key in {**new, **old} if old and new else {}:
        was, now = old.get(key), new.get(key)
        if _verdict(was) != _verdict(now):
            claim = now or was
            verdicts, numbers = (f"{say(was)} → {say(now)}" for say in (_verdict, _number))
            found.append((claim["claim"], claim["where"], verdicts, numbers))
    return found


def _verdict(claim: Mapping[str, Any] | None) -> str:
    return ", ".join(filter(None, [claim["verdict"], claim.get("size")])) if claim else NONE


def _number(claim: Mapping[str, Any] | None) -> str:
    if not claim or claim.get("ours") is None:
        return NONE
    return f"{claim['ours']:.4g} {claim.get('unit') or ''}".strip()
