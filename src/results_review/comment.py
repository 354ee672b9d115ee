"""The comment: stale stages, parameters, verdicts and metrics, each a section in Markdown."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from results_review.commands import ReviewError, dvc, dvc_with_warnings, text_at

CLAIMS = "metrics/claims.json"
# Of a claim, beside its size, which it may lack.
FIELDS = ("claim", "where", "verdict")
MAX_REASONS = 3
# A row of DVC's table: file, name, before, after.
STILL_NAN = re.compile(r"\|[^|]*\|[^|]*\| *nan *\| *nan *\|")


def comment(base: str) -> str:
    """Return the comment on the working tree, compared with the commit `base`. Raises ReviewError for a bad file."""
    claims = Path(CLAIMS)
    claims_text = claims.read_text(encoding="utf-8", errors="replace") if claims.is_file() else ""
    sections = {
        "Stale stages": stale_stages(json.loads(dvc("status", "--json"))),
        "Parameters": diff_table("params", base),
        "Verdicts": changed_verdicts(text_at(base, CLAIMS), claims_text),
        "Metrics": diff_table("metrics", base),
    }
    lines = [f"## Changed results, compared with {base[:12]}"]
    for title, text in sections.items():
        lines += [f"### {title}", text or "None."]
    return "\n\n".join(lines) + "\n"


def diff_table(kind: str, base: str) -> str:
    """Return DVC's table of changed "params" or "metrics", below what it could not read; empty if nothing changed.

    NaN on both sides is no change, though DVC lists it.
    """
    table, warnings = dvc_with_warnings(kind, "diff", base[:12], "--md")
    parts = [line for line in warnings.splitlines() if line.startswith("DVC failed")]
    lines = [line for line in table.strip().splitlines() if not STILL_NAN.match(line)]
    if len(lines) > 2:  # the head and the rule
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def stale_stages(status: Mapping[str, Sequence[Any]]) -> str:
    """Return a list of stages that `dvc repro` would run, with what differs from `dvc.lock`.

    Stages of one matrix that differ alike are one line. `status`: of `dvc status --json`.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for stage, changes in status.items():
        reasons = differences(changes)
        if len(reasons) > MAX_REASONS:
            reasons = [*reasons[:MAX_REASONS], f"{len(reasons) - MAX_REASONS} more"]
        if reasons:
            matrix = stage.partition("@")[0]
            alike.setdefault((matrix, ", ".join(reasons)), []).append(stage)
    if not alike:
        return ""
    lines = [
        "Run `dvc repro` and commit what it changes. These stages have to run, and those that read their outputs:\n"
    ]
    for (matrix, why), stages in alike.items():
        if len(stages) == 1:
            lines.append(f"- `{stages[0]}`: {why}")
        else:
            lines.append(f"- `{matrix}`: {why} ({len(stages)} stages)")
    return "\n".join(lines)


def differences(changes: Sequence[Any]) -> list[str]:
    """Return what differs from `dvc.lock` for a stage, in Markdown.

    A clone without DVC's cache lacks files that a stage of the graph wrote; they make nothing stale.
    `changes`: messages, {"changed deps": {path: state or {parameter: state}}} and {"changed outs": {path: state}}.
    """
    parameters, reasons = [], []
    for change in changes:
        if isinstance(change, str):
            reasons.append(change)
            continue
        for path, state in change.get("changed deps", {}).items():
            if isinstance(state, Mapping):
                parameters += [f"`{parameter}`" for parameter in state]
            elif state != "deleted":
                reasons.append(f"`{path}`")
        for path, state in change.get("changed outs", {}).items():
            if state != "not in cache":
                reasons.append(f"`{path}` is {state}")
    return parameters + reasons


def changed_verdicts(before: str, after: str) -> str:
    """Return a list of the claims whose verdict, or its size, changed; empty where one side has no claims.

    `before`, `after`: the texts of claims.json. Raises ReviewError where one is none.
    """
    old_claims, new_claims = parsed(before, "at the base"), parsed(after, "here")
    if not old_claims or not new_claims:
        return ""
    lines = []
    for key, claim in {**old_claims, **new_claims}.items():
        old = describe(old_claims.get(key))
        new = describe(new_claims.get(key))
        if old != new:
            lines.append(f"- {claim['claim']} ({claim['where']}): {old} → {new}")
    return "\n".join(lines)


def parsed(text: str, where: str) -> dict[str, Any]:
    """Return the claims of a text by key, none of an empty one. Raises ReviewError where it has other things."""
    try:
        claims = json.loads(text or "{}")
    except ValueError as error:
        raise ReviewError(f"{CLAIMS} {where} is no valid JSON: {error}") from None
    if not isinstance(claims, dict):
        raise ReviewError(f"{CLAIMS} {where} is a {type(claims).__name__}; must be claims by key")
    for key, claim in claims.items():
        if not isinstance(claim, dict) or not claim.keys() >= set(FIELDS):
            raise ReviewError(f"{CLAIMS} {where}: {key!r} must have {', '.join(FIELDS)}")
    return claims


def describe(claim: Mapping[str, Any] | None) -> str:
    """Return the verdict on a claim and its size, or "no claim"."""
    if claim is None:
        return "no claim"
    verdict = str(claim["verdict"])
    return f"{verdict}, {claim['size']}" if claim.get("size") else verdict
