"""A stage's command, as a worker runs it."""

import os
import subprocess
import sys

import pytest
from processes import alive, wait_for

from dvc_parallel import command
from dvc_parallel.command import THREADS, Command, run


class Ran:
    """The end of lines of shell, and what they `said`."""

    def __init__(self, folder, *lines, cores=1, wanted=lambda said: True):
        self.said = []
        what = Command("stage", lines, str(folder), {"DVC_STAGE": "stage"}, 1, False)
        self.ended = run(what, cores, {}, self.said.append, lambda: wanted(self.said))


def test_a_line_runs_in_the_stages_folder_with_its_environment_its_cores_and_the_workers_python(tmp_path):
    names = " ".join(f"${name}" for name in ("DVC_STAGE", "PYTHON_CPU_COUNT", *THREADS))
    ran = Ran(tmp_path, f"pwd; echo {names}", "dirname $(command -v python) >&2", cores=3)
    assert ran.said == [str(tmp_path), "stage 3 3 3 3", os.path.dirname(sys.executable)]
    assert (ran.ended.failed, ran.ended.code) == (None, 0)


def test_the_first_line_that_fails_is_the_last_and_a_signal_is_a_negative_exit_code(tmp_path):
    ran = Ran(tmp_path, "echo one", "exit 7", "echo three")
    assert (ran.ended.failed, ran.ended.code, ran.said) == ("exit 7", 7, ["one"])
    assert Ran(tmp_path, "kill -9 $$").ended.code == -9


def test_what_is_not_wanted_any_more_ends_with_all_its_processes(tmp_path):
    ran = Ran(tmp_path, "sleep 600 & echo $!; sleep 600", wanted=lambda said: not said)
    assert ran.ended.code == -15
    wait_for(lambda: not alive(int(ran.said[0])))


def test_what_does_not_obey_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "SECONDS_TO_END", 0.3)
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True); time.sleep(600)"
    line = f'exec "{sys.executable}" -c "{stubborn}"'
    assert Ran(tmp_path, line, wanted=lambda said: not said).ended.code == -9


@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])
def test_a_command_ends_with_all_its_processes_when_the_one_that_runs_it_is_killed(tmp_path, shell):
    script = (
        "from dvc_parallel.command import Command, run\n"
        f"own = Command('stage', ('sleep 600 & echo $!; sleep 600; true',), '.', {{'SHELL': {shell!r}}}, 1, False)\n"
        "run(own, 1, {}, lambda line: print(line, flush=True))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=tmp_path, env=environment) as own:
        sleeping = int(own.stdout.readline())
        own.kill()
    wait_for(lambda: not alive(sleeping))


@pytest.mark.parametrize(("seen", "numbers"), [(None, {"0", "1"}), ("5,7", {"5", "7"})])
def test_each_stage_that_wants_a_gpu_has_one_to_itself_and_the_others_see_none(monkeypatch, seen, numbers):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if seen:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", seen)
    with command._gpu(2, True) as first, command._gpu(2, True) as second, command._gpu(2, False) as hidden:
        assert {first["CUDA_VISIBLE_DEVICES"], second["CUDA_VISIBLE_DEVICES"]} == numbers
        assert hidden == {"CUDA_VISIBLE_DEVICES": ""}
    with command._gpu(2, True) as again, command._gpu(0, True) as there:
        assert (again, there) == (first, {})  # a worker that offers none hides nothing
