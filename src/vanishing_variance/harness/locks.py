"""Locks, so that two processes do not write the same files at once."""

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from vanishing_variance.harness.paths import cache


@contextmanager
def exclusive_lock(name: str) -> Iterator[None]:
    """Wait until no other process does `name` in this folder; the lock ends with its process, however that ends.

    Where the user's cache cannot hold locks, there are none.
    """
    here = os.fsencode(f"{Path.cwd()}\0{name}")
    path = cache() / "locks" / f"{hashlib.sha256(here).hexdigest()[:16]}.lock"
    with ExitStack() as stack:
        with suppress(OSError, RuntimeError):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path, fallback_to_soft=False)
            try:
                stack.enter_context(lock.acquire(timeout=1))
            except Timeout:
                print(f"{name}: another process does this here; waiting for it to end", file=sys.stderr, flush=True)
                stack.enter_context(lock)
        yield
