import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from processes import alive, wait_for

ROOT = Path(__file__).resolve().parents[2]
TRAIN = ["--task", "argmax", "--range", "short", "--norm", "ln", "--block", "0"]


def changed(name, value):
    arguments = TRAIN.copy()
    arguments[arguments.index(name) + 1] = value
    return arguments


@pytest.mark.parametrize(
    ("stage", "arguments", "said"),
    [
        ("train", changed("--task", "sort"), "argument --task: 'sort' is unknown; choose from argmax, dictionary"),
        ("train", changed("--norm", "batch"), "argument --norm: 'batch' is unknown; choose from centred_rms, ln, "),
        ("train", changed("--range", "huge"), "params.yaml: ranges.huge is missing; ranges has: short"),
        ("train", changed("--block", "x"), "argument --block: invalid int value: 'x'"),
        ("train", changed("--block", "-1"), "argument --block: -1 must be a number from 0 to 2147483647"),
        ("train", TRAIN[2:], "the following arguments are required: --task"),
        ("generate", ["--task", "../x"], "tasks: '../x' is unknown; choose from argmax, dictionary"),
        ("check", ["--fast"], "unrecognized arguments: --fast"),
    ],
)
def test_a_bad_argument_is_one_line_and_exit_code_2(stage, arguments, said, tmp_path):
    for name in ("stages", "src", "params.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", f"stages.{stage}", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["params.yaml", "src", "stages"]


def test_the_same_stage_twice_at_once_is_one_after_the_other(tmp_path):
    script = """
import sys, time
from pathlib import Path
from vanishing_variance.core.stage import run

def main():
    with Path("log").open("a") as log:
        print("in", file=log, flush=True)
        while not Path("waited").exists():
            time.sleep(0.05)
        print("out", file=log)

run(main)
"""
    (tmp_path / "stage.py").write_text(script)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "stage.py", "--block", "0"]
    said = tmp_path / "said"
    with said.open("w") as file:
        twice = [subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=file) for _ in "12"]
    try:
        wait_for(said.read_text)
    finally:
        (tmp_path / "waited").touch()
    assert [one.wait() for one in twice] == [0, 0]
    assert (tmp_path / "log").read_text().split() == ["in", "out", "in", "out"]
    assert said.read_text() == "stage-0: another process does this here; waiting for it to end\n"


def test_without_a_place_for_locks_a_stage_runs_all_the_same(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "stage.py").write_text("from vanishing_variance.core.stage import run\nrun(lambda: print('done'))\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": str(tmp_path / "file")}
    done = subprocess.run(
        [sys.executable, "stage.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems have no such names")
def test_a_stage_runs_and_is_alone_in_a_folder_whose_name_is_not_utf_8(tmp_path):
    folder = tmp_path / os.fsdecode(b"na\xefve")
    folder.mkdir()
    (folder / "stage.py").write_text("from vanishing_variance.core.stage import run\nrun(lambda: print('done'))\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "stage.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert len(list((tmp_path / "cache" / "vanishing-variance" / "locks").iterdir())) == 1


STAGE = """
import sys, time
from pathlib import Path
import stages
from functools import partial
from vanishing_variance.core import parallel
from vanishing_variance.core.stage import run

def wait(name, report):
    Path(name).write_text(str(__import__("os").getpid()))
    time.sleep(300)

def main():
    parallel.cores = lambda: 2
    parallel.run([partial(wait, "one"), partial(wait, "two")], print)

if __name__ == "__main__":
    run(main)
"""

KILLED = """
import os, signal
import stages
from functools import partial
from vanishing_variance.core import parallel
from vanishing_variance.core.stage import run

def end(report):
    os.kill(os.getpid(), signal.SIGKILL)

def main():
    parallel.cores = lambda: 2
    parallel.run([end, end], print)

if __name__ == "__main__":
    run(main)
"""

# DVC, too, waits for the stage that it started when it is interrupted.
DVC = """
import signal, subprocess, sys
signal.signal(signal.SIGINT, lambda *_: None)
sys.exit(subprocess.call([sys.executable, "stage.py"]))
"""


@pytest.fixture
def working(tmp_path):
    """A stage of two processes, in a process group of its own, that does nothing for five minutes; started by `dvc`."""
    (tmp_path / "stage.py").write_text(STAGE)
    (tmp_path / "dvc.py").write_text(DVC)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "DVC_STAGE": "stage"}
    with (tmp_path / "said").open("w") as said:
        command = [sys.executable, "dvc.py"]
        started = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=said, start_new_session=True)
    files = [tmp_path / "one", tmp_path / "two"]
    wait_for(lambda: all(file.exists() and file.read_text() for file in files))
    yield started, [int(file.read_text()) for file in files]
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


def test_a_stage_ends_when_the_dvc_that_started_it_is_killed(working):
    dvc, processes = working
    dvc.kill()
    assert dvc.wait() == -signal.SIGKILL
    wait_for(lambda: not any(alive(process) for process in processes))


def test_a_killed_process_of_a_stage_is_one_line_and_exit_code_2(tmp_path):
    (tmp_path / "stage.py").write_text(KILLED)
    here = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    done = subprocess.run(
        [sys.executable, "stage.py"], cwd=tmp_path, env=here, capture_output=True, text=True, check=False
    )
    said = "error: stage: one of its processes was killed, as where memory runs out\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_an_interrupt_is_one_line_and_leaves_no_process(working, tmp_path):
    dvc, processes = working
    os.killpg(dvc.pid, signal.SIGINT)  # to all at once, as a terminal does: none can have ended before its own
    assert dvc.wait(timeout=180) != 0
    assert (tmp_path / "said").read_text() == "interrupted: dvc repro goes on from here\n"
    wait_for(lambda: not any(alive(process) for process in processes))
