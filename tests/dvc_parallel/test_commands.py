"""A stage's command, as a worker runs it."""

import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from processes import alive, wait_for

from dvc_parallel import command
from dvc_parallel.command import Command, run

PYTHON = f"'{sys.executable}'"


@pytest.fixture
def made(tmp_path):
    def make(*lines, **others):
        return replace(Command("stage", lines, str(tmp_path), {"DVC_STAGE": "stage"}, 1, False), **others)

    return make


@pytest.fixture
def said():
    return []


def test_lines_run_in_the_stages_folder_and_what_they_print_is_told_as_it_comes(made, said, tmp_path):
    ended = run(made("pwd; echo $DVC_STAGE", "echo second >&2"), 1, {}, said.append)
    assert said == [str(tmp_path), "stage", "second"]
    assert (ended.failed, ended.code) == (None, 0)


def test_the_first_line_that_fails_is_the_last(made, said):
    ended = run(made("echo one", "exit 7", "echo three"), 1, {}, said.append)
    assert (ended.failed, ended.code, said) == ("exit 7", 7, ["one"])


def test_a_signal_is_a_negative_exit_code(made, said):
    assert run(made("kill -9 $$"), 1, {}, said.append).code == -9


def test_the_command_is_told_how_many_cores_it_has(made, said):
    names = ("PYTHON_CPU_COUNT", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    run(made(f"echo {' '.join('$' + name for name in names)}"), 3, {}, said.append)
    assert said == ["3 3 3 3"]


def test_python_is_the_workers(made, said):
    run(made("command -v python"), 1, {}, said.append)
    assert os.path.dirname(said[0]) == os.path.dirname(sys.executable)


def test_wall_and_cpu_time_are_those_of_the_command_and_its_children(made, said):
    busy = "import time; end = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    ended = run(made(f'sleep 0.3; {PYTHON} -c "{busy}"'), 1, {}, said.append)
    assert ended.seconds > 0.55
    assert 0.25 < ended.cpu < ended.seconds


def test_what_is_not_wanted_any_more_ends_with_all_its_processes(made, said):
    wanted = threading.Event()
    wanted.set()
    results = []
    line = "sleep 60 & echo $!; sleep 60"
    thread = threading.Thread(target=lambda: results.append(run(made(line), 1, {}, said.append, wanted.is_set)))
    thread.start()
    wait_for(lambda: said)
    wanted.clear()
    thread.join()
    assert results[0].code == -15
    wait_for(lambda: not alive(int(said[0])))


def test_what_does_not_obey_is_killed(made, said, monkeypatch):
    monkeypatch.setattr(command, "SECONDS_TO_END", 0.5)
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True); time.sleep(60)"
    ended = run(made(f'exec {PYTHON} -c "{stubborn}"'), 1, {}, said.append, lambda: not said)
    assert ended.code == -9


@pytest.mark.parametrize(("seen", "numbers"), [(None, {"0", "1"}), ("5,7", {"5", "7"})])
def test_each_stage_that_wants_a_gpu_has_one_to_itself(monkeypatch, seen, numbers):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if seen:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", seen)
    with command._gpu(2, True) as first, command._gpu(2, True) as second:
        assert {first["CUDA_VISIBLE_DEVICES"], second["CUDA_VISIBLE_DEVICES"]} == numbers
    with command._gpu(2, True) as again:
        assert again == first


def test_a_stage_that_wants_none_sees_none_where_they_are_given_out_and_what_is_there_elsewhere():
    with command._gpu(2, False) as hidden:
        assert hidden == {"CUDA_VISIBLE_DEVICES": ""}
    with command._gpu(0, True) as there:
        assert there == {}


@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])
def test_a_command_ends_with_all_its_processes_when_the_one_that_runs_it_is_killed(tmp_path, shell):
    script = (
        "from dvc_parallel.command import Command, run\n"
        f"own = Command('stage', ('sleep 60 & echo $!; sleep 60; true',), '.', {{'SHELL': {shell!r}}}, 1, False)\n"
        "run(own, 1, {}, lambda line: print(line, flush=True))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=tmp_path, env=environment) as own:
        sleeping = int(own.stdout.readline())
        assert alive(sleeping)
        own.kill()
    wait_for(lambda: not alive(sleeping))
