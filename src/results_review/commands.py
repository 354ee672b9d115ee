"""git and DVC, run in the current folder."""

import subprocess
import sys

from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.stage import PipelineStage


class ReviewError(Exception):
    """A bad argument or file. The message is one line."""


def git(*arguments: str) -> str:
    """Return the output of a git command. Raises ReviewError where it fails."""
    return _run(["git"], arguments).stdout


def dvc(*arguments: str) -> tuple[str, str]:
    """Return the output of a DVC command, and what it warns of. Raises ReviewError where it fails."""
    done = _run([sys.executable, "-m", "dvc"], arguments)
    return done.stdout, done.stderr


def stages(revision: str | None) -> set[str]:
    """Return the names of the stages in a commit, or in the working tree; none where DVC cannot read a graph there."""
    try:
        with Repo(rev=revision) as repo:
            # not `addressing`: of a commit that is relative to another folder
            paths = [(repo.fs.relpath(stage.path, repo.root_dir), stage) for stage in repo.index.stages]
            return {f"{path}:{stage.name}" if isinstance(stage, PipelineStage) else path for path, stage in paths}
    except DvcException:
        return set()


def merge_base(revision: str) -> str:
    """Return the commit at which HEAD left `revision`. Raises ReviewError where there is none."""
    try:
        commit = git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").strip()
    except ReviewError:
        message = f"--base: {revision!r} is unknown; must be a revision of this git repository"
        raise ReviewError(message) from None
    try:
        return git("merge-base", commit, "HEAD").strip()
    except ReviewError:
        message = f"--base: {revision!r} has no commit in common with HEAD; fetch the whole history"
        raise ReviewError(message) from None


def _run(program: list[str], arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    command = [*program, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        lines = [line for line in done.stderr.strip().splitlines() if not line.startswith("WARNING")]
        why = lines[0] if lines else f"exit code {done.returncode}"
        raise ReviewError(f"{program[-1]} {arguments[0]}: {why}")
    return done
