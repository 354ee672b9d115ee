"""git and DVC, run on a checkout."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dvc.exceptions import DvcException
from dvc.repo import Repo


class ReviewError(Exception):
    """A bad argument or file. The message is one line; exit code 2."""


def git(root: Path, *arguments: str, **environment: str) -> str:
    """Return what a git command prints. Raises ReviewError where it fails."""
    return _printed(root, ["git", *arguments], environment)


def merge_base(root: Path, revision: str) -> str:
    """Return the commit at which HEAD left `revision`: what came there later is no change of HEAD's.

    Raises ReviewError for an unknown revision, and for one that shares no history with HEAD.
    """
    try:
        commit = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    except ReviewError:
        said = f"--base: {revision!r:.80} is unknown; must be a revision of this git repository"
        raise ReviewError(said) from None
    try:
        return git(root, "merge-base", commit, "HEAD").strip()
    except ReviewError:
        said = f"--base: {revision!r:.80} has no commit in common with HEAD; fetch the whole history"
        raise ReviewError(said) from None


def snapshot(root: Path) -> str:
    """Return a tree object of the working tree, with what is not committed and new files; the index stays as it is."""
    with TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        git(root, "read-tree", "HEAD", **index)
        git(root, "add", "--all", **index)
        return git(root, "write-tree", **index).strip()


def text_at(root: Path, revision: str, path: str) -> str:
    """Return a file's text at a commit or tree; empty where there is none."""
    try:
        return git(root, "show", f"{revision}:{path}")
    except ReviewError:
        return ""


def dvc(root: Path, *arguments: str) -> str:
    """Return what a DVC command prints. Raises ReviewError where it fails."""
    return _printed(root, [sys.executable, "-m", "dvc", *arguments], {})


def dvc_json(root: Path, *arguments: str) -> Any:
    """Return what a DVC command prints with `--json`, parsed."""
    return json.loads(dvc(root, *arguments, "--json") or "{}")


def dvc_table(root: Path, *arguments: str) -> str:
    """Return the Markdown table that a DVC command prints, without its padding; empty where nothing differs."""
    head, rule, *rows = (re.sub(" {2,}", " ", dvc(root, *arguments, "--md")).strip() + "\n\n").splitlines()
    return "\n".join([head, re.sub("-{3,}", "---", rule), *rows]).strip() if any(rows) else ""


def graph(root: Path, revision: str | None = None) -> dict[str, tuple[str, str, str]]:
    """Return the stages of the graph, at a commit or in the working tree, by address, as `dvc status` names them.

    Of each: its name in its lock file, that file, and the folder to which the paths there are relative.
    """
    try:
        with Repo(str(root), rev=revision) as repo:
            found = {}
            for stage in repo.index.stages:
                if stage.name:
                    path, folder = stage.path_in_repo, os.path.relpath(stage.wdir, repo.root_dir)
                    address = stage.name if path == "dvc.yaml" else f"{path}:{stage.name}"
                    found[address] = stage.name, f"{path.removesuffix('.yaml')}.lock", folder
            return found
    except DvcException as problem:
        raise ReviewError(f"dvc: {' '.join(str(problem).split())}") from None


def environment() -> dict[str, str]:
    """Return this process's environment, where `python` of a stage's command is this Python."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def _printed(root: Path, command: list[str], variables: Mapping[str, str]) -> str:
    done = subprocess.run(command, cwd=root, env={**environment(), **variables}, check=False, capture_output=True)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise ReviewError(f"{' '.join(command[:4]).replace(f'{sys.executable} -m ', '')}: {lines[0]}")
    return done.stdout.decode(errors="replace")
