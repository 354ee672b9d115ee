import errno
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from multiprocessing import synchronize
from pathlib import Path

import pytest
from jobs import be_killed, refuse, run_out, square, wait

from vanishing_variance.harness import edits, parallel
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.parallel import cores


@pytest.mark.parametrize("number", [1, 2])
def test_results_come_in_order_and_reports_arrive(number, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: number)
    reported = []
    numbers = [3, 1, 2, 8, 5, 7, 4, 6]
    assert parallel.run([partial(square, number) for number in numbers], reported.append) == [n**2 for n in numbers]
    assert sorted(reported) == sorted(numbers)


def test_what_the_caller_has_frozen_stays_so(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    gc.freeze()
    try:
        parallel.run([partial(square, 2)], print)
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()


def test_what_the_processes_have_loaded_is_known_afterwards(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(edits, "LOADED_BY_OTHERS", set())
    parallel.run([partial(square, 2), partial(square, 3)], print)
    assert {Path(parallel.__file__), Path(edits.__file__)} <= edits.LOADED_BY_OTHERS


def test_a_failed_job_ends_its_fellows_at_once_and_no_other_process(monkeypatch):
    """A job that went on would take five minutes."""
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(300,))
    other.start()
    threads = set(threading.enumerate())
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with pytest.raises(InputError, match="this one"):
            parallel.run([wait, refuse, wait, wait], print)
        assert multiprocessing.active_children() == [other]
        assert set(threading.enumerate()) <= threads
        assert signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT}) == {signal.SIGINT}
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        other.kill()
        other.join()


@pytest.mark.parametrize(("number", "job"), [(1, run_out), (2, run_out), (2, be_killed)])
def test_want_of_memory_is_one_line(number, job, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: number)
    with pytest.raises(InputError, match=r"^(memory ran out|one of its processes was killed, as where .*); run fewer "):
        parallel.run([job, job], print)


@pytest.mark.parametrize(("named", "expected"), [("2", 2), ("64", 3), ("default", 3), ("", 3), (None, 3)])
def test_cores_are_at_most_those_of_the_affinity_and_of_pythons_variable(named, expected, monkeypatch):
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda process: {0, 3, 5}, raising=False)
    monkeypatch.delenv("PYTHON_CPU_COUNT", raising=False)
    if named is not None:
        monkeypatch.setenv("PYTHON_CPU_COUNT", named)
    assert cores() == expected


@pytest.mark.parametrize("given", ["script.py", "-"])
def test_processes_do_not_import_the_script_which_need_not_be_a_file(given, tmp_path):
    job = "from functools import partial; from jobs import square"
    run = "print(parallel.run([partial(square, 2)] * 2, print))"
    code = f"{job}; from vanishing_variance.harness import parallel; parallel.cores = lambda: 2; {run}"
    (tmp_path / "script.py").write_text(code)
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, given]
    options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True, "timeout": 180}
    ended = subprocess.run(command, input=code, check=True, **options)
    assert ended.stdout.splitlines() == ["2", "2", "[4, 4]"]


def test_a_process_that_may_start_no_others_does_the_work_itself(monkeypatch):
    monkeypatch.setattr(parallel.machine, "cores", lambda: 4)
    assert cores() > 1
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert cores() == 1


def test_a_gpu_has_one_process(monkeypatch):
    monkeypatch.setattr(parallel.torch.cuda, "is_available", lambda: True)
    assert cores() == 1


@pytest.mark.parametrize("named", ["0", "-1", "1.5", "all", "9" * 5000])
def test_a_number_of_cores_that_is_none_is_refused(named, monkeypatch):
    monkeypatch.setenv("PYTHON_CPU_COUNT", named)
    with pytest.raises(InputError, match=r"^PYTHON_CPU_COUNT is '"):
        cores()


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EROFS, errno.EACCES, errno.ENOSYS])
def test_without_shared_memory_one_line_says_what_to_do(number, monkeypatch):
    """No /dev/shm, or one that cannot be written, as some containers have it."""

    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(synchronize._multiprocessing, "SemLock", fail)
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    with pytest.raises(InputError, match=r"make /dev/shm writable, or set PYTHON_CPU_COUNT=1$"):
        parallel.run([partial(square, 2), partial(square, 3)], print)
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    assert parallel.run([partial(square, 2)], print) == [4]
