"""Files that appear whole, and the tool's own folder: in .dvc/tmp, which git and DVC ignore."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from dvc.repo import Repo
from filelock import FileLock, Timeout

from dvc_parallel.errors import InputError


def own_folder() -> Path:
    """Return the tool's folder in the DVC repository around this process; DVC raises where there is none."""
    return Path(Repo.find_root(), Repo.DVC_DIR, "tmp", "dvc-parallel")


def write_text(path: Path, text: str) -> None:
    """Write a text beside `path`, on the disk for when power fails, and rename it to `path`; one process at a time.

    Raises InputError, which says what to do, when the disk is full or the folder cannot be written to.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as problem:
        raise InputError(
            f"{path}: cannot be written: {problem.strerror or problem}; make room or make it writable, and run it again"
        ) from None


@contextmanager
def exclusive_lock() -> Iterator[None]:
    """Wait until no other process of this tool runs the repository; the lock ends with its process, however that ends.

    Where the file system cannot hold locks, there are none.
    """
    with ExitStack() as held:
        with suppress(OSError, RuntimeError):
            path = own_folder() / "lock"
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path, fallback_to_soft=False)
            try:
                held.enter_context(lock.acquire(timeout=1))
            except Timeout:
                print("another dvc-parallel runs this repository; waiting for it to end", file=sys.stderr, flush=True)
                held.enter_context(lock.acquire())
        yield
