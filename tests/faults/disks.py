"""Disks on which there is no room, and folders that cannot be written to."""

import os
import resource
import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def no_file_above(size):
    """No file can grow beyond `size` bytes, as on a disk that is full; of this process and those that it starts."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def mounted(folder, *how):
    """The folder as a mount; skips where that is not allowed."""
    done = subprocess.run(["mount", *how, str(folder)], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no mount: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def small_disk(folder, size):
    """A file system of `size` bytes in memory."""
    with mounted(folder, "-t", "tmpfs", "-o", f"size={size}", "tmpfs"):
        yield folder


def fill(file, left=0):
    """Let the file take all the room of its disk but `left` bytes."""
    with file.open("wb", buffering=0) as stream:
        free = os.statvfs(file.parent).f_bavail * os.statvfs(file.parent).f_frsize - left
        try:
            for _ in range(max(0, free) // 4096):
                stream.write(bytes(4096))
        except OSError:
            return


@contextmanager
def read_only(folder):
    """The folder, and all in it, as a read-only mount; without root by its permissions."""
    if os.geteuid() != 0:
        paths = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
        for path in paths:
            path.chmod(0o555)
        try:
            yield
        finally:
            for path in paths:
                path.chmod(0o755)
        return
    with mounted(folder, "--bind", str(folder)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield
