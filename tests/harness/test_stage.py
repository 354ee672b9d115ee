import errno
import os
import signal
import subprocess
import sys
import venv
from contextlib import nullcontext, suppress
from types import SimpleNamespace

import pytest
from checkout import ROOT
from processes import alive, wait_for

from vanishing_variance.harness import edits
from vanishing_variance.harness.errors import DivergedError, InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.script import run_script


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The script stage.py is started, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["stages/stage.py", "--block", "0"])
    return tmp_path


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [
        (InputError("file: is\nbad"), 2, "error: file: is bad"),
        (DivergedError("seed 3: is nan"), 3, "error: seed 3: is nan"),
        (MemoryError(), 2, "error: stage-0: memory ran out"),
        (OSError(errno.ENOMEM, "no memory"), 2, "error: stage-0: memory ran out"),
    ],
)
def test_what_a_user_can_mend_is_one_line_and_an_exit_code(problem, code, said, here, capsys):
    def main():
        raise problem

    with pytest.raises(SystemExit) as ended:
        run_script(main)
    assert ended.value.code == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(said)
    assert printed.err.count("\n") == 1
    assert not (here / "runs").exists()


SOURCES = ("stages/own.py", "stages/own.c", "stages/of_a_process.py", "stages/other.py")


@pytest.mark.parametrize("edited", [*SOURCES, "stages/new.py"])
def test_a_source_that_is_edited_after_it_was_loaded_fails_the_stage(edited, here, monkeypatch, capsys):
    for name in SOURCES:
        write_text(here / name, "")
        os.utime(here / name, (1, 1))
    monkeypatch.setattr(edits, "_noted", {})
    edits.note_sources(here)
    monkeypatch.setitem(sys.modules, "stages.own", SimpleNamespace(__file__=str(here / "stages/own.py")))
    monkeypatch.setattr(edits, "LOADED_BY_OTHERS", {here / "stages/of_a_process.py"})
    fails = edited in SOURCES[:3]
    with pytest.raises(SystemExit) if fails else nullcontext() as ended:
        run_script(lambda: write_text(here / edited, ""))
    said = "was edited while this ran, so its outputs are of neither version; run it again"
    assert capsys.readouterr().err == (f"error: {edited} {said}\n" if fails else "")
    assert not fails or ended.value.code == 2


def test_a_source_that_was_edited_before_it_was_loaded_is_that_of_then(monkeypatch):
    """As a choice that is written, or changed, while a notebook is open."""
    file = edits.PACKAGE / "norms/ln.py"
    monkeypatch.setattr(edits, "_noted", {file: (0, 0)})
    monkeypatch.setattr(edits, "LOADED_BY_OTHERS", set())
    loaded_before = edits.PACKAGE / "norms/std.py"
    monkeypatch.setattr(edits, "loaded_sources", lambda: {loaded_before})
    edits.require_unedited("since")
    assert loaded_before in edits._noted
    monkeypatch.setattr(edits, "loaded_sources", lambda: {file})
    edits.require_unedited("since")
    monkeypatch.setitem(edits._noted, file, (0, 0))
    with pytest.raises(InputError, match=r"norms/ln\.py was edited since$"):
        edits.require_unedited("since")


def test_every_stage_notes_its_sources_before_it_loads_them():
    script = "import stages, sys; from vanishing_variance.harness import edits; print(len(edits._noted), *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    number, *loaded = done.stdout.split()
    assert int(number) > 200
    own = {name for name in loaded if name.startswith("vanishing_variance.")}
    assert own == {f"vanishing_variance.harness{name}" for name in ("", ".edits", ".errors", ".parent")}


JOBS = """
import os, time
from pathlib import Path

def wait(name, report):
    Path(name).write_text(str(os.getpid()))
    time.sleep(300)
"""

STAGE = """
from functools import partial
import stages
from jobs_of_stage import wait
from vanishing_variance.harness import parallel
from vanishing_variance.harness.script import run_script

def main():
    parallel.cores = lambda: 2
    parallel.run([partial(wait, "one"), partial(wait, "two")], print)

if __name__ == "__main__":
    run_script(main)
"""

# DVC, too, waits for the stage that it started when it is interrupted.
DVC = """
import signal, subprocess, sys
signal.signal(signal.SIGINT, lambda *_: None)
sys.exit(subprocess.call([sys.executable, "stage.py"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_a_stage_ends_with_its_processes_when_it_is_interrupted_or_its_dvc_is_killed(here, number):
    """A stage of two processes, in a process group of its own, that does nothing for five minutes."""
    (here / "jobs_of_stage.py").write_text(JOBS)
    (here / "stage.py").write_text(STAGE)
    (here / "dvc.py").write_text(DVC)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "DVC_STAGE": "stage"}
    with (here / "said").open("w") as said:
        dvc = subprocess.Popen([sys.executable, "dvc.py"], env=environment, stderr=said, start_new_session=True)
    files = [here / "one", here / "two"]
    wait_for(lambda: all(file.exists() and file.read_text() for file in files))
    processes = [int(file.read_text()) for file in files]
    try:
        if number == signal.SIGINT:
            os.killpg(dvc.pid, number)  # to all at once, as a terminal does: none can have ended before its own
            assert dvc.wait(timeout=180) != 0
            assert (here / "said").read_text() == "interrupted: the same command goes on from here\n"
        else:
            dvc.kill()
        wait_for(lambda: not any(alive(process) for process in processes))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(dvc.pid, signal.SIGKILL)
        dvc.wait()


def test_python_without_the_packages_is_one_line_that_says_what_to_do(tmp_path):
    venv.create(tmp_path / "bare", symlinks=True)
    python = tmp_path / "bare/bin/python"
    done = subprocess.run([python, "-m", "stages.check"], cwd=ROOT, env={}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {python} has no package jaxtyping; "
        "run `make repro`, which sets up .venv, or activate it: source .venv/bin/activate\n"
    )


def test_as_the_first_process_of_a_container_it_is_ended_by_sigterm():
    script = "import os; own = os.getpid(); os.getpid = lambda: 1; import stages; os.kill(own, 15); input()"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 128 + signal.SIGTERM
