"""The comment: stale stages, parameters and metrics, each a section in Markdown."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from results_review.commands import dvc

MAX_REASONS = 3
# A row of DVC's table: file, name, before, after.
STILL_NAN = re.compile(r"\|[^|]*\|[^|]*\| *nan *\| *nan *\|")


def comment(base: str) -> str:
    """Return the comment on the working tree, compared with the commit `base`."""
    sections = {
        "Stale stages": stale_stages(json.loads(dvc("status", "--json")[0])),
        "Parameters": diff_table("params", base),
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
    table, warnings = dvc(kind, "diff", base[:12], "--md")
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
