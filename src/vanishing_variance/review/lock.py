"""dvc.lock at two states: which stages ran, because of what, and which of their outputs came out the same."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Record:
    """What dvc.lock holds of a stage's last run: the hashes by path, the parameters by dotted key."""

    command: str
    files: Mapping[str, str]
    parameters: Mapping[str, Any]
    outputs: Mapping[str, str]


@dataclass(frozen=True)
class Change:
    """A stage that ran, is new, or is gone.

    `reasons`: what it read that differs, in words (Markdown); none of a stage that is new or gone, and none of one that
    was run again on the same inputs. `outputs`: path -> whether what it wrote differs.
    """

    stage: str
    kind: Literal["ran", "new", "gone"]
    reasons: tuple[str, ...]
    outputs: Mapping[str, bool]


def records(document: Mapping[str, Any]) -> dict[str, Record]:
    """A parsed dvc.lock by stage."""
    return {
        name: Record(
            command=str(stage["cmd"]),
            files=_hashes(stage.get("deps", [])),
            parameters=flat(stage.get("params", {}).get("params.yaml", {})),
            outputs=_hashes(stage.get("outs", [])),
        )
        for name, stage in (document.get("stages") or {}).items()
    }


def flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """Nested mappings as one, by dotted key; lists are values."""
    result: dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, Mapping) and value:
            result |= {f"{key}.{below}": one for below, one in flat(value).items()}
        else:
            result[str(key)] = value
    return result


def changes(
    before: Mapping[str, Record], after: Mapping[str, Record], were: Collection[str], are: Collection[str]
) -> list[Change]:
    """What became of the stages: `were` and `are` the DAG's, because dvc.lock keeps those that it no longer has.

    In the DAG's order, those that are gone last. A stage of the DAG that has not run yet is not among them.
    """
    made_by = _producers([*before.items(), *after.items()])
    found = []
    for name in are:
        if name not in after:
            continue
        now = after[name]
        if name not in were or name not in before:
            found.append(Change(name, "new", (), dict.fromkeys(now.outputs, True)))
        elif now != before[name]:
            differ = {path: before[name].outputs.get(path) != one for path, one in now.outputs.items()}
            found.append(Change(name, "ran", _reasons(before[name], now, made_by), differ))
    return found + [Change(name, "gone", (), {}) for name in were if name not in are]


def kind(stage: str) -> str:
    """The stage of dvc.yaml that one of a matrix is of: `train` of `train@argmax-short-ln-0`."""
    return stage.partition("@")[0]


def grouped(changes: Iterable[Change]) -> list[list[Change]]:
    """Those of the same kind of stage, to which the same happened for the same reasons, together; order is kept."""
    groups: dict[tuple[Any, ...], list[Change]] = {}
    for change in changes:
        groups.setdefault((kind(change.stage), change.kind, change.reasons), []).append(change)
    return list(groups.values())


def _hashes(entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    return {entry["path"]: str(entry.get("md5")) for entry in entries}


def _producers(recorded: Iterable[tuple[str, Record]]) -> dict[str, str]:
    """The kind of stage that makes an output, by the output's path."""
    return {path: kind(name) for name, record in recorded for path in record.outputs}


def _reasons(before: Record, now: Record, made_by: Mapping[str, str]) -> tuple[str, ...]:
    """Parameters first, then the command, then files of git's, then what other stages made."""
    parameters = [f"`{key}`" for key in _differing(before.parameters, now.parameters)]
    command = ["its command"] if before.command != now.command else []
    own: list[str] = []
    theirs: dict[str, None] = {}
    for path in _differing(before.files, now.files):
        makers = sorted({maker for made, maker in made_by.items() if _within(made, path) or _within(path, made)})
        if makers:
            theirs |= {f"what `{maker}` made": None for maker in makers}
        else:
            own.append(f"`{path}`")
    return (*parameters, *command, *own, *theirs)


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Keys that only one has, or with different values."""
    missing = object()
    return [key for key in {**before, **now} if before.get(key, missing) != now.get(key, missing)]


def _within(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")
