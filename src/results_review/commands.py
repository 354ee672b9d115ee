"""git and DVC, run in the current folder."""

import subprocess
import sys


class ReviewError(Exception):
    """A bad argument or file. The message is one line."""


def git(*arguments: str) -> str:
    """Return the output of a git command. Raises ReviewError where it fails."""
    return _run(["git"], arguments).stdout


def dvc(*arguments: str) -> tuple[str, str]:
    """Return the output of a DVC command, and what it warns of. Raises ReviewError where it fails."""
    done = _run([sys.executable, "-m", "dvc"], arguments)
    return done.stdout, done.stderr


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
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise ReviewError(f"{program[-1]} {arguments[0]}: {lines[0]}")
    return done
