"""Stages that ran, by the dvc.lock files at two states, and stages that have yet to run, by `dvc status`."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from results_review.commands import ReviewError

# What `dvc status` says of an output that a clone without DVC's cache does not have.
ABSENT = ("deleted", "not in cache")


@dataclass(frozen=True)
class Record:
    """The last run of a stage in dvc.lock: hashes by path, parameters by dotted key."""

    command: str
    parameters: Mapping[str, Any]
    files: Mapping[str, str]
    outputs: Mapping[str, str]


@dataclass(frozen=True)
class Change:
    """A stage that ran, is new, is gone, or has yet to run.

    `reasons`: the inputs that differ, in Markdown; none of a stage that is new or gone, or ran again on the same
    inputs. `outputs`: path -> whether it differs.
    """

    stage: str
    kind: Literal["ran", "new", "gone", "stale"]
    reasons: tuple[str, ...] = ()
    outputs: Mapping[str, bool] = field(default_factory=dict)


def records(graph: Mapping[str, tuple[str, str, str]], text: Callable[[str], str]) -> dict[str, Record | None]:
    """Return the records of a graph's stages by address, None for one that has not run.

    `graph`: as of `commands.graph`. `text`: of a lock file; empty where there is none. Raises ReviewError where it is
    not YAML.
    """
    locks = {path: _parsed(path, text(path)) for path in {path for _, path, _ in graph.values()}}
    return {
        address: _record(locks[path][name], folder) if name in locks[path] else None
        for address, (name, path, folder) in graph.items()
    }


def _parsed(path: str, text: str) -> dict[str, Any]:
    try:
        return dict((yaml.safe_load(text) or {}).get("stages", {}))
    except yaml.YAMLError as problem:
        raise ReviewError(f"{path}: cannot be read as YAML: {' '.join(str(problem).split())[:200]}") from None


def _record(stage: Mapping[str, Any], folder: str) -> Record:
    files, outputs = (
        {os.path.normpath(os.path.join(folder, one["path"])): str(one.get("md5")) for one in stage.get(key, [])}
        for key in ("deps", "outs")
    )
    parameters = {key: one for file in stage.get("params", {}).values() for key, one in flat(file).items()}
    return Record(str(stage["cmd"]), parameters, files, outputs)


def flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested mappings as one, by dotted key; lists are values."""
    result: dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, Mapping) and value:
            result |= {f"{key}.{below}": one for below, one in flat(value).items()}
        else:
            result[str(key)] = value
    return result


def changes(before: Mapping[str, Record | None], after: Mapping[str, Record | None]) -> list[Change]:
    """Return what became of the stages, by their records, in the graph's order, those that are gone last.

    A stage that has not run yet is not among the changes.
    """
    both = [*before.items(), *after.items()]
    made_by = {path: kind(name) for name, record in both if record for path in record.outputs}
    found = []
    for name, now in after.items():
        was = before.get(name)
        if now and was and now != was:
            differ = {path: was.outputs.get(path) != one for path, one in now.outputs.items()}
            found.append(Change(name, "ran", _reasons(was, now, made_by), differ))
        elif now and not was:
            found.append(Change(name, "new", outputs=dict.fromkeys(now.outputs, True)))
    return found + [Change(name, "gone") for name in before if name not in after]


def stale(status: Mapping[str, Any], recorded: Collection[str], in_git: Callable[[str], bool]) -> list[Change]:
    """Return the stages that `dvc repro` would run, without those that are only downstream of others.

    `status`: of `dvc status --json`, stage -> words, or {"changed deps" | "changed outs": {path: how}}, where the path
    of parameters leads to {key: how}. `recorded`: the stages that have run. `in_git`: whether git keeps a path; what
    only DVC's cache keeps, and is not here, makes nothing stale.
    """
    found = []
    for stage, said in status.items():
        reasons: list[str] = []
        for one in said if stage in recorded else ["it has not run"]:
            if isinstance(one, str):
                reasons.append(one)
                continue
            for path, how in (pair for differing in one.values() for pair in differing.items()):
                if isinstance(how, Mapping):
                    reasons = [*(f"`{key}`" for key in how), *reasons]  # parameters first
                elif how not in ABSENT or in_git(path):
                    reasons.append(f"`{path}`" + (f" is {how}" if "changed outs" in one else ""))
        if reasons:
            found.append(Change(stage, "stale", tuple(reasons)))
    return found


def kind(stage: str) -> str:
    """Return the name in dvc.yaml of a matrix's stage: `train` of `train@argmax-short-ln-0`."""
    return stage.partition("@")[0]


def within(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies in it."""
    return f"{path}/".startswith(f"{folder}/")


def _reasons(before: Record, now: Record, made_by: Mapping[str, str]) -> tuple[str, ...]:
    """Parameters first, then the command, files of git's, and outputs of other stages."""
    own, made = [], []
    for path in _differing(before.files, now.files):
        makers = {maker for output, maker in made_by.items() if within(output, path) or within(path, output)}
        made += [f"what `{maker}` made" for maker in sorted(makers)]
        own += [] if makers else [f"`{path}`"]
    parameters = (f"`{key}`" for key in _differing(before.parameters, now.parameters))
    return (*parameters, *["its command"][: before.command != now.command], *own, *dict.fromkeys(made))


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterable[str]:
    missing = object()
    return (key for key in {**before, **now} if before.get(key, missing) != now.get(key, missing))
