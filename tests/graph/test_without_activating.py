"""`python` of a stage's command is one without the project's packages: nobody activated .venv."""

import ast
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from checkout import ROOT, Copy

OURS = Path(sys.prefix)
STAGE = """
import os, sys
print(sys.executable, sys.flags.optimize, sys.argv[1:], os.getpid(), os.getppid() == int(sys.argv[1]))
print(*(name for name in os.environ if name.startswith("VANISHING")))
"""
# Where a bare Python is to look old: what sitecustomize.py does when it starts.
OLD = "import sys\nsys.version_info = (3, 8, 18)\ndel sys.orig_argv\n"


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "checkout/stages").mkdir(parents=True)
    (tmp_path / "checkout/stages/__init__.py").write_bytes((ROOT / "stages/__init__.py").read_bytes())
    (tmp_path / "checkout/stages/tell.py").write_text(STAGE)
    return tmp_path / "checkout"


@pytest.fixture
def bare(tmp_path):
    """A `python` that has the standard library alone."""
    venv.create(tmp_path / "bare", symlinks=True)
    return tmp_path / "bare"


def tell(environment, checkout, **variables):
    started = subprocess.Popen(
        [environment / "bin/python", "-O", "-m", "stages.tell", str(os.getpid()), "a b"],
        cwd=checkout,
        env={name: os.environ[name] for name in os.environ if name != "PYTHONPATH"} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out, err = started.communicate(timeout=30)
    return started, out, err


def goes_on_with(python, started, out, err):
    arguments = [str(os.getpid()), "a b"]
    return (out, err) == (f"{python} 1 {arguments} {started.pid} True\n\n", "")


def test_the_same_process_goes_on_with_the_checkouts_python(checkout, bare):
    (checkout / ".venv").symlink_to(OURS)
    assert goes_on_with(checkout / ".venv/bin/python", *tell(bare, checkout))


def test_an_old_python_does_so_too(checkout, bare):
    (checkout / ".venv").symlink_to(OURS)
    site = bare / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    (site / "sitecustomize.py").write_text(OLD)
    assert goes_on_with(checkout / ".venv/bin/python", *tell(bare, checkout))
    (checkout / ".venv").unlink()
    assert "bare/bin/python is older than Python 3.11; " in tell(bare, checkout)[2]
    ast.parse((ROOT / "stages/__init__.py").read_text(), feature_version=(3, 7))


def test_a_copy_of_dvcs_goes_on_with_the_python_of_the_checkout_it_copies(checkout, bare, tmp_path):
    (tmp_path / "parent").mkdir()
    (tmp_path / "parent/.venv").symlink_to(OURS)
    given = tell(bare, checkout, DVC_ROOT=str(tmp_path / "parent"))
    assert goes_on_with(tmp_path / "parent/.venv/bin/python", *given)


@pytest.mark.parametrize("there", ["no .venv", "an empty .venv"])
def test_without_the_packages_it_is_one_line_that_says_what_to_do(checkout, bare, there):
    if there == "an empty .venv":
        (checkout / ".venv").symlink_to(bare)
    started, out, err = tell(bare, checkout)
    assert (started.returncode, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    assert "/bin/python has no package filelock; run `make repro`" in err


@pytest.mark.slow
def test_dvc_of_an_environment_that_is_not_active(bare, tmp_path):
    copy = Copy.of_this_checkout(tmp_path / "copy")
    (copy.path / ".venv").symlink_to(OURS)
    copy.environment["PATH"] = f"{bare / 'bin'}{os.pathsep}{os.environ['PATH']}"
    dvc = str(copy.path / ".venv/bin/dvc")
    assert copy.ran(dvc, "repro", "check") == {"check"}
    assert copy.ran(dvc, "exp", "run", "--temp", "--set-param", "seed=1", "check") == {"check"}
