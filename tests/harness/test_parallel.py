import gc
import multiprocessing
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import torch
from jobs import refuse, square, wait

from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.parallel import cores


@pytest.mark.parametrize("number", [1, 2])
def test_results_come_in_order_and_reports_arrive(number, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: number)
    reported = []
    numbers = [3, 1, 2, 8, 5, 7, 4, 6]
    assert parallel.run([partial(square, number) for number in numbers], reported.append) == [n**2 for n in numbers]
    assert sorted(reported) == sorted(numbers)


def test_a_failed_job_ends_its_fellows_at_once_and_no_other_process(monkeypatch):
    """A job that went on would take five minutes."""
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(300,))
    other.start()
    try:
        with pytest.raises(InputError, match="this one"):
            parallel.run([wait, refuse, wait, wait], print)
        assert multiprocessing.active_children() == [other]
    finally:
        other.kill()
        other.join()


def test_on_one_core_a_failure_is_raised_and_a_notebook_is_left_as_it_was():
    threads = torch.get_num_threads()
    with pytest.raises(InputError, match="this one"):
        parallel.run([partial(square, 1), refuse], print)
    assert torch.get_num_threads() == threads
    assert gc.get_freeze_count() == 0  # else garbage of before is never collected


@pytest.mark.parametrize(("named", "expected"), [("2", 2), ("64", 3), ("default", 3), ("", 3), (None, 3)])
def test_cores_are_at_most_those_of_the_affinity_and_of_pythons_variable(named, expected, monkeypatch):
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda process: {0, 3, 5}, raising=False)
    monkeypatch.setattr(parallel.torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("PYTHON_CPU_COUNT", raising=False)
    if named is not None:
        monkeypatch.setenv("PYTHON_CPU_COUNT", named)
    assert cores() == expected


def test_a_script_that_starts_processes_whenever_it_is_imported_is_told_how_to_start_them_once(tmp_path):
    script = tmp_path / "script.py"
    job = "from functools import partial; from jobs import square"
    run = "parallel.run([partial(square, 2)] * 2, print)"
    script.write_text(f"{job}; from vanishing_variance.harness import parallel; parallel.cores = lambda: 2; {run}")
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, script]
    ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=180)
    assert ended.returncode == 1
    assert 'InputError: train starts processes: put it under if __name__ == "__main__": in a script' in ended.stderr


def test_a_gpu_has_one_process(monkeypatch):
    monkeypatch.setattr(parallel.torch.cuda, "is_available", lambda: True)
    assert cores() == 1


@pytest.mark.parametrize("named", ["0", "-1", "1.5", "all", "9" * 5000])
def test_a_number_of_cores_that_is_none_is_refused(named, monkeypatch):
    monkeypatch.setattr(parallel.torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("PYTHON_CPU_COUNT", named)
    with pytest.raises(InputError, match=r"^PYTHON_CPU_COUNT is '"):
        cores()
