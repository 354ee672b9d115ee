import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import torch
from processes import alive, wait_for

from vanishing_variance.core import parallel
from vanishing_variance.core.errors import InputError

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}


def square(number, report):
    report(number)
    return number**2


def refuse(report):
    raise InputError("this one")


@pytest.mark.parametrize("cores", [1, 2])
def test_results_come_in_order_and_reports_arrive(cores, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: cores)
    reported = []
    assert parallel.run([partial(square, number) for number in (3, 1, 2)], reported.append) == [9, 1, 4]
    assert sorted(reported) == [1, 2, 3]


@pytest.mark.parametrize("cores", [1, 2])
def test_the_first_exception_of_a_job_is_raised(cores, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: cores)
    with pytest.raises(InputError, match="this one"):
        parallel.run([partial(square, 1), refuse], lambda done: None)


@pytest.mark.parametrize(("named", "cores"), [("1", 1), ("2", 2), ("64", 3), ("default", 3), ("", 3), (None, 3)])
def test_cores_are_at_most_those_of_the_affinity_and_of_pythons_variable(named, cores, monkeypatch):
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda process: {0, 3, 5}, raising=False)
    monkeypatch.setattr(parallel, "device", lambda: torch.device("cpu"))
    monkeypatch.delenv("PYTHON_CPU_COUNT", raising=False)
    if named is not None:
        monkeypatch.setenv("PYTHON_CPU_COUNT", named)
    assert parallel.cores() == cores


@pytest.mark.parametrize("named", ["0", "-1", "1.5", "all", "9" * 5000])
def test_a_number_of_cores_that_is_none_is_refused(named, monkeypatch):
    monkeypatch.setattr(parallel, "device", lambda: torch.device("cpu"))
    monkeypatch.setenv("PYTHON_CPU_COUNT", named)
    with pytest.raises(InputError, match=r"^PYTHON_CPU_COUNT is '.*; must be a whole number from 1 on, or default$"):
        parallel.cores()


def test_a_notebook_on_one_core_is_left_as_it_was(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    threads = torch.get_num_threads()
    parallel.run([lambda report: 1], lambda done: None)
    assert torch.get_num_threads() == threads
    assert gc.get_freeze_count() == 0  # else garbage of before is never collected


def test_a_failed_job_ends_the_others_at_once(tmp_path):
    """Of five jobs on two processes the second fails; the first would take five minutes."""
    script = _script(tmp_path, "[partial(wait, 'one'), refuse, partial(wait, 'two'), partial(wait, 'three')]")
    command, own = [sys.executable, script], {"cwd": tmp_path, "env": ENVIRONMENT}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, **own)
    assert done.returncode == 1
    assert "ValueError: refused" in done.stderr


def test_a_failed_job_ends_no_process_that_others_started(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(300,))
    other.start()
    with pytest.raises(InputError, match="this one"):
        parallel.run([refuse, partial(square, 2)], lambda done: None)
    assert other.is_alive()
    other.kill()
    other.join()


def test_a_killed_stage_leaves_no_process_behind(tmp_path):
    """Each process writes its number, then waits for longer than this test does."""
    script = _script(tmp_path, "[partial(wait, 'one'), partial(wait, 'two')]")
    stage = subprocess.Popen([sys.executable, script], cwd=tmp_path, env=ENVIRONMENT)
    pids = [
        wait_for(lambda name=name: (tmp_path / name).exists() and (tmp_path / name).read_text())
        for name in ("one", "two")
    ]
    stage.send_signal(signal.SIGKILL)
    stage.wait()
    for pid in pids:
        wait_for(lambda pid=pid: not alive(int(pid)))


def _script(folder, jobs):
    """A program that runs `jobs` in two processes; `wait` notes its process and takes five minutes."""
    script = folder / "stage.py"
    script.write_text(f"""
import os, time
from functools import partial
from pathlib import Path
from vanishing_variance.core import parallel

def wait(name, report):
    Path(name).write_text(str(os.getpid()))
    time.sleep(300)

def refuse(report):
    time.sleep(1)
    raise ValueError("refused")

if __name__ == "__main__":
    parallel.cores = lambda: 2
    parallel.run({jobs}, print)
""")
    return script
