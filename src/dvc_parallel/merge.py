"""A dvc.lock that git could not merge, merged stage by stage."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dvc.dvcfile import Lockfile
from dvc.exceptions import DvcException
from dvc.utils.serialize import dumps_yaml, parse_yaml

from dvc_parallel.exceptions import UsageError, one_line

Records = Mapping[str, Any]
# As git numbers the versions of a file with a conflict.
BASE, OURS, THEIRS = 1, 2, 3


def merge_lock(path: Path) -> str:
    """Merge the versions of a dvc.lock in git's index, write the file, and return what was done.

    A record that one side changed is taken from that side. Records that both changed are dropped: DVC runs these stages
    again. Raises UsageError where git has no conflict in the file, or its versions are no such files.
    """
    blobs = _conflict(path)
    if not {OURS, THEIRS} <= set(blobs):
        raise UsageError(f"{path}: one side deleted it; `git add` keeps it, `git rm` deletes it")
    base, ours, theirs = (_version(path, blobs.get(number)) for number in (BASE, OURS, THEIRS))
    stages, dropped = merged(*(version.get("stages", {}) for version in (base, ours, theirs)))
    others, unclear = merged(*({**version, "stages": None} for version in (base, ours, theirs)))
    if unclear:
        raise UsageError(f"{path}: {unclear[0]}: both sides changed it, and only stages can be dropped")
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(dumps_yaml({**others, "stages": stages}), encoding="utf-8")
    new.replace(path)
    said = f"{path}: {len(stages)} stages; `git add` it"
    return f"{said}\ndropped, since both sides changed them; they run again: {', '.join(dropped)}" if dropped else said


def merged(base: Records, ours: Records, theirs: Records) -> tuple[dict[str, Any], list[str]]:
    """Return the records of both sides, in our order, and the names of those that both changed, which are left out."""
    result: dict[str, Any] = {}
    dropped: list[str] = []
    for name in {**ours, **theirs}:
        before, our, their = base.get(name), ours.get(name), theirs.get(name)
        if our != their and before not in (our, their):
            dropped.append(name)
            continue
        record = their if our == before else our
        if record is not None:  # or that side has deleted it
            result[name] = record
    return result, dropped


def _conflict(path: Path) -> dict[int, str]:
    """Return the git objects of a file's versions, by number."""
    if not path.parent.is_dir() or path.is_dir():
        raise UsageError(f"{path}: no such file")
    listed = _git(path.parent, "ls-files", "--unmerged", "-z", "--", path.name)
    if not listed:
        raise UsageError(f"{path}: git has no conflict in it" if path.exists() else f"{path}: no such file")
    entries = [entry.partition("\t")[0].split() for entry in listed.split("\0") if entry]
    return {int(number): blob for _, blob, number in entries}


def _version(path: Path, blob: str | None) -> Records:
    if blob is None:  # each side added the file
        return {}
    try:
        version: Records = Lockfile.validate(parse_yaml(_git(path.parent, "cat-file", "blob", blob), str(path)))
    except (DvcException, UnicodeDecodeError) as problem:
        raise UsageError(f"{path}: a version in git's index is no dvc.lock: {one_line(str(problem), 200)}") from None
    return version


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "--literal-pathspecs", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise UsageError(f"git {arguments[0]}: {done.stderr}")
    return done.stdout
