"""The verdicts on the paper's claims (metrics/claims.json) at two states."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Claims = Mapping[str, Mapping[str, Any]]

NONE = "–"


@dataclass(frozen=True)
class Flip:
    """A claim whose verdict differs: where the paper makes it, both verdicts and both of our numbers, in words."""

    claim: str
    where: str
    before: str
    after: str
    ours_before: str
    ours_after: str


def flips(before: Claims | None, after: Claims | None) -> list[Flip]:
    """In the order of the claims; those that are no longer there last. Nothing where a state has no verdicts at all."""
    if before is None or after is None:
        return []
    found = []
    for key in {**after, **before}:
        was, now = before.get(key), after.get(key)
        if _verdict(was) != _verdict(now):
            said = now or was or {}
            found.append(
                Flip(str(said["claim"]), str(said["where"]), _verdict(was), _verdict(now), _ours(was), _ours(now))
            )
    return found


def _verdict(claim: Mapping[str, Any] | None) -> str:
    return NONE if claim is None else str(claim["verdict"])


def _ours(claim: Mapping[str, Any] | None) -> str:
    if claim is None or claim.get("ours") is None:
        return NONE
    return f"{claim['ours']:.4g} {claim.get('unit') or ''}".strip()
