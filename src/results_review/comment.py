"""The comment: stale and removed stages, parameters and metrics, each a section in Markdown."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from results_review.commands import dvc, stages

MAX_REASONS = 3
# What GitHub takes of a comment, and what the line takes that says what was cut. Characters.
LONGEST, NOTE = 65_536, 200
# A row of DVC's table: file, name, before, after.
STILL_NAN = re.compile(r"\|[^|]*\|[^|]*\| *nan *\| *nan *\|")


def comment(base: str) -> str:
    """Return the comment on the working tree, compared with the commit `base`."""
    status, warnings = dvc("status", "--json")
    frozen = [line for line in warnings.splitlines() if "is frozen" in line]
    stale = [text for text in (stale_stages(json.loads(status)), *frozen) if text]
    sections = {
        "Stale stages": "\n\n".join(stale),
        "Removed stages": by_matrix(dict.fromkeys(sorted(stages(base) - stages(None)), "no longer there")),
        "Parameters": diff_table("params", base),
        "Metrics": diff_table("metrics", base),
    }
    lines = [f"## Changed results, compared with {base[:12]}"]
    for title, text in sections.items():
        lines += [f"### {title}", text or "None."]
    return "\n\n".join(lines) + "\n"


def shortened(text: str) -> str:
    """Return a comment that GitHub takes: of one that is too long, the first lines of each section."""
    if len(text) <= LONGEST:
        return text
    head, *sections = text.rstrip("\n").split("\n\n### ")
    share = (LONGEST - len(head)) // len(sections)
    return "\n\n### ".join([head, *(_cut(section, share - NOTE) for section in sections)]) + "\n"


def _cut(section: str, most: int) -> str:
    """Return as many lines as `most` characters hold, and a line that says where the others are."""
    lines = section.splitlines()
    kept, length = 0, 0
    while kept < len(lines) and length + len(lines[kept]) < most:
        length += len(lines[kept]) + 1
        kept += 1
    if kept == len(lines):
        return section
    cut = f"**{len(lines) - kept} of {len(lines)} lines are cut**"
    note = f"{cut}: see review.md of the run's artifact, or `make pr-report`."
    return "\n".join([*lines[:kept], "", note])


def diff_table(kind: str, base: str) -> str:
    """Return DVC's table of changed "params" or "metrics", below what it could not read; empty if nothing changed.

    NaN on both sides is no change, though DVC lists it. DVC pads cells to the widest of the table; here they are not.
    """
    table, warnings = dvc(kind, "diff", base[:12], "--md")
    parts = [line for line in warnings.splitlines() if line.startswith("DVC failed")]
    lines = [re.sub(" {2,}", " ", line) for line in table.strip().splitlines() if not STILL_NAN.match(line)]
    if len(lines) > 2:  # the head and the rule
        lines[1] = re.sub("-+", "---", lines[1])
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def stale_stages(status: Mapping[str, Sequence[Any]]) -> str:
    """Return a list of stages that `dvc repro` would run, with what differs from `dvc.lock`.

    `status`: of `dvc status --json`.
    """
    absent = _absent_outputs(status)
    reasons = {}
    for stage, changes in status.items():
        different = differences(changes, absent)
        if len(different) > MAX_REASONS:
            different = [*different[:MAX_REASONS], f"{len(different) - MAX_REASONS} more"]
        if different:
            reasons[stage] = ", ".join(different)
    if not reasons:
        return ""
    head = "Run `dvc repro` and commit what it changes. These stages have to run, and those that read their outputs:"
    return f"{head}\n\n{by_matrix(reasons)}"


def by_matrix(reasons: Mapping[str, str]) -> str:
    """Return a list of stages and the reason of each; stages of one matrix with the same reason are one line."""
    alike: dict[tuple[str, str], list[str]] = {}
    for stage, why in reasons.items():
        matrix = stage.partition("@")[0]
        alike.setdefault((matrix, why), []).append(stage)
    lines = []
    for (matrix, why), names in alike.items():
        if len(names) == 1:
            lines.append(f"- `{names[0]}`: {why}")
        else:
            lines.append(f"- `{matrix}`: {why} ({len(names)} stages)")
    return "\n".join(lines)


def _absent_outputs(status: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the outputs that are not there, because they changed or because this clone lacks DVC's cache."""
    changes = [change for stage in status.values() for change in stage if not isinstance(change, str)]
    states = [state for change in changes for state in change.get("changed outs", {}).items()]
    return [path for path, state in states if state in {"not in cache", "deleted"}]


def differences(changes: Sequence[Any], absent: Sequence[str]) -> list[str]:
    """Return what differs from `dvc.lock` for a stage, in Markdown.

    A clone without DVC's cache lacks files that a stage of the graph wrote; they make nothing stale. `absent` are the
    outputs that lack, and a deleted dependency that is none of them, nor a folder above or below one, was in git.
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
            elif not any(_overlap(path, output) for output in absent):
                reasons.append(f"`{path}` is deleted")
        for path, state in change.get("changed outs", {}).items():
            if state != "not in cache":
                reasons.append(f"`{path}` is {state}")
    return parameters + reasons


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
