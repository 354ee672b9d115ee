"""A stage's command, as a worker runs it."""

import os
import sys

from processes import alive, wait_for

from dvc_parallel import command
from dvc_parallel.command import CORES, Command, run


class Ran:
    """The end of lines of shell, and what they `said`."""

    def __init__(self, folder, *lines, cores=1, wanted=lambda said: True, **options):
        self.said = []
        what = Command("stage", lines, str(folder), {"DVC_STAGE": "stage"}, 1, False)
        self.ended = run(what, cores, self.said.append, lambda: wanted(self.said), **options)


def test_a_line_runs_in_the_stages_folder_with_its_environment_its_cores_and_the_workers_python(tmp_path):
    names = " ".join(f"${name}" for name in ("DVC_STAGE", *CORES))
    ran = Ran(tmp_path, f"pwd; echo {names}", "dirname $(command -v python) >&2", cores=3)
    assert ran.said == [str(tmp_path), "stage 3 3 3 3", os.path.dirname(sys.executable)]
    assert (ran.ended.failed, ran.ended.code) == (None, 0)


def test_the_first_line_that_fails_is_the_last_and_a_signal_is_128_and_its_number(tmp_path):
    ran = Ran(tmp_path, "echo one", "exit 7", "echo three")
    assert (ran.ended.failed, ran.ended.code, ran.said) == ("exit 7", 7, ["one"])
    assert Ran(tmp_path, "kill -9 $$").ended.code == 128 + 9


def test_what_is_not_wanted_any_more_ends_with_all_its_processes(tmp_path):
    ran = Ran(tmp_path, "sleep 600 & echo $!; sleep 600", wanted=lambda said: not said)
    assert ran.ended.code == 128 + 15
    wait_for(lambda: not alive(int(ran.said[0])))


def test_what_does_not_obey_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "SECONDS_TO_END", 0.3)
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True); time.sleep(600)"
    line = f'exec "{sys.executable}" -c "{stubborn}"'
    assert Ran(tmp_path, line, wanted=lambda said: not said).ended.code == -9


def test_a_stage_that_wants_no_gpu_sees_none(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    for hidden, seen in ((False, "3"), (True, "")):
        assert Ran(tmp_path, "echo $CUDA_VISIBLE_DEVICES", hide_gpus=hidden).said == [seen]
