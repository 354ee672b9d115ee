"""`dvc-parallel repro`: its exit codes, and what is left when something is killed."""

import os
import signal
import subprocess
import sys
from threading import Thread

import dask
import psutil
import pytest
from processes import alive, wait_for
from tiny import ROOT, STAGES, Tiny, stage, until

from dvc_parallel import cli

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src"), "SHELL": "/bin/sh"}
# It tells its process, and ends when ran/on is there.
SLOW = stage("slow", "echo $$ >> ran/slow", until("ran/on"), deps=["a"])
ALL = {"a": STAGES["a"], "slow": SLOW}


@pytest.fixture
def tiny(tmp_path):
    return Tiny.new(tmp_path / "tiny", ALL)


@pytest.fixture
def call(tiny, monkeypatch, capsys):
    """Run the command in this process; returns what it printed."""

    def run(*arguments, exit_code=0):
        monkeypatch.setattr(sys, "argv", ["dvc-parallel", "repro", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        assert ended.value.code == exit_code, printed.err
        return printed.out + printed.err

    monkeypatch.chdir(tiny.path)
    return run


def start(tiny, *arguments):
    """Start the command in a session of its own; its slow stage runs: its process, and that of its worker."""
    command = [sys.executable, "-m", "dvc_parallel", "repro", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
    process = subprocess.Popen(command, cwd=tiny.path, env=ENVIRONMENT, **pipes)
    wait_for(lambda: pids(tiny))
    parents = psutil.Process(pids(tiny)[0]).parents()
    guard = next(one for one in parents if "dvc_parallel/command.py" in " ".join(one.cmdline()))
    return process, pids(tiny)[0], guard.ppid()


def pids(tiny):
    """The slow stage's process, each time it began."""
    noted = tiny.path / "ran/slow"
    return [int(line) for line in noted.read_text().split()] if noted.exists() else []


def goes_on(tiny):
    """Serial DVC then runs the slow stage alone, and leaves what it would have left at first."""
    (tiny.path / "ran/on").touch()
    first = Tiny.new(tiny.path.with_name("first"), ALL)
    (first.path / "ran/on").touch()
    begun = len(pids(tiny))
    for repository in (tiny, first):
        repository.dvc()
    assert tiny.ran() == first.ran() | {"slow": begun + 1}
    assert tiny.lock() == first.lock()


def test_it_ends_as_dvc_does_and_the_second_time_there_is_nothing_to_do(tiny, call):
    tiny.write(STAGES | {"bad": {"cmd": "echo why; exit 4"}})
    printed = call("--workers", "2", "--keep-going", exit_code=255)
    assert "Running stage 'a':\n> echo a" in printed
    assert "bad| why\n" in printed
    assert "'bad': failed to run: echo why; exit 4" in printed
    assert "5 ran" in printed
    assert tiny.ran() == dict.fromkeys(STAGES, 1)
    tiny.write(STAGES)
    printed = call()
    assert "5 unchanged" in printed
    assert "http://" not in printed


def test_an_unknown_stage_is_255_and_no_repository_253(call, tmp_path, monkeypatch):
    assert "ERROR: " in call("nothing", exit_code=255)
    monkeypatch.chdir(tmp_path)
    assert "not inside of a DVC repository" in call(exit_code=253)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--workers 0", "--workers: 0 must be a whole number from 1 on"),
        ("--slurm-option cores=8", "--slurm-option is for --slurm alone"),
        ("--slurm 1 --slurm-option speed=8", "--slurm-option: speed is unknown; it takes account, cores, "),
        ("--slurm 1 --slurm-option cores=8", "--slurm-option: a job's cores and memory are needed"),
        ("--slurm 1 --slurm-option cores=8 --slurm-option memory=x", "--slurm-option: Could not interpret 'x'"),
        ("--scheduler=", "--scheduler: nothing: no Dask scheduler answers there"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_touched(tiny, call, arguments, said):
    (tiny.path / "a").write_text("made before")
    printed = call(*arguments.split(), exit_code=2)
    assert printed.startswith(f"error: {said}")
    assert printed.count("\n") == 1
    assert (tiny.path / "a").read_text() == "made before"


def test_a_dry_run_says_what_would_run_in_which_job_and_without_sbatch_there_is_none(tiny, call, caplog, monkeypatch):
    """A job's options are over the user's configuration; it is one worker of one thread."""
    options = ["--slurm", "1", *(f"--slurm-option={option}" for option in ("gpus=1", "queue=long", "memory=8GB"))]
    own = {"cores": 4, "memory": "1GB", "log-directory": "elsewhere", "job-extra-directives": ["--exclusive"]}
    monkeypatch.setenv("PATH", str(tiny.path))
    with dask.config.set({f"jobqueue.slurm.{key}": value for key, value in own.items()}):
        script = call(*options, "--dry", "a")
        assert call(*options, exit_code=2).startswith("error: --slurm: no sbatch on PATH")
    for line in ("--cpus-per-task=4", "--mem=8G", "-o elsewhere/", "--exclusive", "--gres=gpu:1", "-p long"):
        assert f"\n#SBATCH {line}" in script
    assert "--nthreads 1" in script
    assert "--resources GPU=1" in script
    assert "Running stage 'a':" in caplog.text
    assert "slow" not in caplog.text
    assert tiny.ran() == {}


def test_a_second_run_says_that_it_waits_and_goes_on_when_the_first_has_ended(tiny, monkeypatch, capsys):
    monkeypatch.chdir(tiny.path)
    with cli._exclusive_lock():
        second = Thread(target=cli._exclusive_lock)
        second.start()
        wait_for(lambda: "another dvc-parallel runs this repository" in capsys.readouterr().err)
        assert second.is_alive()
    second.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_cut_off_leaves_no_process_and_nothing_half_recorded(tiny, number):
    """A terminal sends Ctrl-C to all processes; the other signal kills the command alone."""
    process, stage, worker = start(tiny, "--workers", "1")
    os.killpg(process.pid, number) if number == signal.SIGINT else process.kill()
    printed = process.communicate(timeout=600)[0]
    if number == signal.SIGINT:
        assert process.returncode == cli.INTERRUPTED, printed
        assert "Traceback" not in printed, printed
        assert printed.splitlines()[-1].startswith("interrupted: ")
    wait_for(lambda: not alive(stage) and not alive(worker))
    assert ("slow" in (tiny.path / ".dvc/tmp/rwlock").read_text()) == (number == signal.SIGKILL)
    assert tiny.recorded() <= {"a"}
    goes_on(tiny)
