"""A stage's script, run in this process; and a disk that is full."""

import io
import resource
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path

import jaxtyping
import pytest

from vanishing_variance.harness.script import run_script

ROOT = Path(__file__).resolve().parents[1]
ONE = "argmax-short-ln-0"


def stage(name, *arguments):
    """Run stages/<name>.py, or a module of the package, in the current folder; return exit code and standard error."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(said), redirect_stdout(io.StringIO()):
        patch.setattr(sys, "argv", [f"{name}.py", *arguments])
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as outside the tests
        try:
            run_script(import_module(f"vanishing_variance.{name}" if "." in name else f"stages.{name}").main)
        except SystemExit as end:
            return end.code, said.getvalue()
    return 0, said.getvalue()


@contextmanager
def no_file_above(size):
    """Let no file of this process grow beyond `size` bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
