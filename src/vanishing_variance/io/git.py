"""What git knows of a checkout: revisions, files of theirs, and what differs from them."""

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

from vanishing_variance.errors import InputError, shown


def commit(root: Path, revision: str) -> str:
    """The full hash of a revision's commit. Raises InputError where there is no such revision."""
    done = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if done.returncode:
        raise InputError(f"--base: {shown(revision)} is unknown; must be a revision of this git repository")
    return done.stdout.decode().strip()


def parted(root: Path, revision: str) -> str:
    """The commit at which HEAD left `revision`, so that what came there later is not taken for a change of HEAD's.

    Raises InputError for an unknown revision, and for one that shares no history with HEAD.
    """
    done = _git(root, "merge-base", commit(root, revision), "HEAD")
    if done.returncode:
        raise InputError(f"--base: {shown(revision)} has no commit in common with HEAD; fetch the whole history")
    return done.stdout.decode().strip()


def text_at(root: Path, revision: str, path: str) -> str | None:
    """A file's text at a commit; None where it is not there."""
    done = _git(root, "show", f"{revision}:{path}")
    return None if done.returncode else done.stdout.decode()


def differing(root: Path, revision: str, *folders: str) -> list[tuple[str, str]]:
    """Files of some folders of the working tree that differ from a commit's: (A, D, M, …, path); new ones too."""
    listed = _text(root, "diff", "--name-status", "--no-renames", "-z", revision, "--", *folders).split("\0")[:-1]
    new = _text(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *folders).split("\0")[:-1]
    return sorted(
        [*zip(listed[::2], listed[1::2], strict=True), *(("A", path) for path in new)], key=lambda one: one[1]
    )


def files(root: Path) -> list[str]:
    """The files of the working tree: what git has or would take, as it lies there."""
    listed = _text(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")[:-1]
    return [name for name in dict.fromkeys(listed) if (root / name).is_file()]


def export(root: Path, revision: str, to: Path) -> None:
    """A commit's files, into a folder."""
    with tarfile.open(fileobj=BytesIO(_bytes(root, "archive", "--format=tar", revision))) as archive:
        archive.extractall(to, filter="data")


def commit_all(root: Path, message: str) -> None:
    """All that lies there as a commit, of a new repository where there is none."""
    if not (root / ".git").exists():
        _text(root, "init", "--quiet")
    _text(root, "add", "--all")
    who = ("-c", "user.name=review", "-c", "user.email=review@example.org", "-c", "commit.gpgsign=false")
    _text(root, *who, "commit", "--quiet", "--allow-empty", "--no-verify", "--message", message)


def _text(root: Path, *arguments: str) -> str:
    return _bytes(root, *arguments).decode()


def _bytes(root: Path, *arguments: str) -> bytes:
    done = _git(root, *arguments)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise InputError(f"git {arguments[0]}: {said[-1]}")
    return done.stdout


def _git(root: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["git", *arguments], cwd=root, check=False, capture_output=True)
