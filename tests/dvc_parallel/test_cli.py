"""`dvc-parallel repro`, as a program: exit codes, and what is left when something is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import zc.lockfile
from processes import alive, wait_for
from tiny import ENVIRONMENT, STAGES, Tiny

ROOT = Path(__file__).resolve().parents[2]
# What our stages do: end with the process that started them. Steps of a tenth of a second, and a checkpoint after each.
# Where ran/hold is, it goes no further than five steps the first time: whatever happens to it then finds it running.
STEPS = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
import stages
made = int(Path("ran/checkpoint").read_text()) if Path("ran/checkpoint").exists() else 0
print("begins at", made, flush=True)
with open("ran/pids", "a") as pids:
    print(os.getpid(), file=pids)
for step in range(made, 20):
    time.sleep(0.1)
    Path("ran/next").write_text(str(step + 1))
    os.replace("ran/next", "ran/checkpoint")
    while made == 0 and step == 4 and Path("ran/hold").exists():
        time.sleep(0.1)
Path("slow").write_text("made\\n")
"""
SLOW = {"slow": {"cmd": "python ran/../steps.py", "deps": ["a"], "outs": ["slow"]}}


def made(folder):
    repository = Tiny(folder, STAGES | SLOW)
    (repository.path / "steps.py").write_text(STEPS.format(root=str(ROOT)))
    return repository


@pytest.fixture
def tiny(tmp_path):
    return made(tmp_path / "tiny")


def start(tiny, *arguments, **options):
    # the shell that waits for a command, where bash gives it its own process
    own = {"PYTHONPATH": f"{ROOT / 'src'}", "HOME": str(tiny.path.parent), "SHELL": "/bin/sh"}
    return subprocess.Popen(
        [sys.executable, "-m", "dvc_parallel", "repro", *arguments],
        **{"cwd": tiny.path, "env": ENVIRONMENT | own, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        | {"text": True, "start_new_session": True}
        | options,
    )


def hold(tiny, *arguments):
    """Start it, with a slow stage that does not end by itself."""
    (tiny.path / "ran/hold").touch()
    return start(tiny, *arguments)


def run(tiny, *arguments, exit_code=0, **options):
    process = start(tiny, *arguments, **options)
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == exit_code, printed
    return printed


def pids(tiny):
    """Of the slow stage, each time it began."""
    noted = tiny.path / "ran/pids"
    return [int(line) for line in noted.read_text().splitlines()] if noted.exists() else []


def begun(tiny, steps=3):
    """The slow stage has made some steps; its process and its worker's, with a shell and a guard in between."""
    checkpoint = tiny.path / "ran/checkpoint"
    wait_for(lambda: checkpoint.exists() and int(checkpoint.read_text()) >= steps)
    stage = pids(tiny)[-1]
    between = next(one for one in psutil.Process(stage).parents() if "guard.py" in " ".join(one.cmdline()))
    return stage, between.ppid()


def finished(tiny, undisturbed):
    """Serial DVC finds nothing to do, and dvc.lock is what it would have written."""
    assert "up to date" in tiny.dvc("repro")
    assert tiny.lock() == undisturbed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """dvc.lock after a serial run."""
    repository = made(tmp_path_factory.mktemp("serial") / "tiny")
    repository.dvc("repro")
    return repository.lock()


def test_it_ends_as_dvc_does_and_says_what_was_done(tiny, undisturbed):
    printed = run(tiny, "--workers", "2")
    assert "Dask's dashboard: http://127.0.0.1:" in printed
    assert "Running stage 'slow':\n> python ran/../steps.py" in printed
    assert "slow| begins at 0" in printed
    assert "6 ran: " in printed
    assert "Stage 'slow' took " in printed
    assert "the commands took " in printed
    assert "distributed" not in printed
    finished(tiny, undisturbed)
    assert "6 had not changed" in run(tiny)


def test_a_failure_is_255_and_an_unknown_stage_too(tiny):
    tiny.write({"bad": {"cmd": "echo why; exit 4"}})
    printed = run(tiny, exit_code=255)
    assert "bad| why" in printed
    assert "ERROR: failed to reproduce 'bad': failed to run: echo why; exit 4, exited with 4" in printed
    assert "ERROR: " in run(tiny, "nothing", exit_code=255)


def test_outside_of_a_repository_it_is_253(tiny, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "not inside of a DVC repository" in run(tiny, exit_code=253, cwd=tmp_path / "empty")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workers", "0"], "error: --workers: 0 must be a whole number from 1 on"),
        (["--workers", "two"], "error: dvc-parallel repro: argument --workers: invalid int value: 'two'"),
        (["--slurm", "-1"], "error: --slurm: -1 must be a whole number from 1 on"),
        (["--workers", "1", "--slurm", "1"], "error: dvc-parallel repro: argument --slurm: not allowed with"),
        (["--slurm-option", "cores=8"], "error: --slurm-option: 'cores=8' is for --slurm alone"),
        (["--slurm", "1", "--slurm-option", "cores"], "error: --slurm-option: 'cores' must be KEY=VALUE"),
        (["--slurm", "1", "--slurm-option", "speed=8"], "error: "),
        (["--scheduler", ""], "error: --scheduler: nothing: no Dask scheduler answers there"),
        (["--bogus"], "error: dvc-parallel: unrecognized arguments: --bogus"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_touched(tiny, arguments, said):
    (tiny.path / "a").write_text("made before")
    printed = run(tiny, *arguments, exit_code=2)
    assert said in printed
    assert printed.count("\n") == 1
    assert tiny.ran() == {}
    assert (tiny.path / "a").read_text() == "made before"


@pytest.mark.parametrize(
    ("missing", "arguments"), [("distributed", []), ("dask_jobqueue", ["--slurm", "1", "--slurm-option", "cores=1"])]
)
def test_without_dask_a_line_says_how_to_get_it(tiny, missing, arguments):
    (tiny.path / "sitecustomize.py").write_text(f"import sys; sys.modules['{missing}'] = None")
    (tiny.path / "a").write_text("made before")
    own = {"PYTHONPATH": f"{tiny.path}{os.pathsep}{ROOT / 'src'}"}
    printed = run(tiny, *arguments, exit_code=2, env=ENVIRONMENT | own)
    assert (tiny.path / "a").read_text() == "made before"
    assert printed.splitlines()[-1].startswith("error: ")
    assert "pip install" in printed
    assert tiny.ran() == {}


def test_a_dry_run_says_what_would_run_and_runs_nothing(tiny):
    tiny.dvc("repro")  # a dry run of DVC's wants what it does not make to be there
    tiny.ran()
    tiny.params(b=2)
    printed = run(tiny, "--dry", "both")
    assert "Running stage 'b':" in printed
    assert "slow" not in printed
    assert tiny.ran() == {}


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interruption_is_252_and_leaves_no_process(tiny, undisturbed, number):
    process = hold(tiny)
    stage, worker = begun(tiny)
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)  # as a terminal does
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == 252, printed
    assert "Traceback" not in printed, printed
    assert printed.splitlines()[-1].startswith("interrupted: ")
    wait_for(lambda: not alive(stage) and not alive(worker))
    assert "slow" not in tiny.recorded()
    assert "slow| begins at 0" not in run(tiny)
    finished(tiny, undisturbed)


def test_an_interruption_ends_the_waiting_for_another_dvc(tiny):
    (tiny.path / ".dvc/tmp").mkdir(exist_ok=True)
    lock = zc.lockfile.LockFile(str(tiny.path / ".dvc/tmp/lock"))
    process = start(tiny)
    printed = ""
    while "waiting for another DVC" not in printed:
        printed = process.stdout.readline()
        assert printed
    process.send_signal(signal.SIGINT)
    assert "interrupted: " in process.communicate(timeout=120)[0]
    assert process.returncode == 252
    lock.close()


MANY = """
import os, queue, signal, threading
from dvc_parallel import cli
with cli._interrupting() as (messages, interrupted):
    def tell():
        for _ in range(20000):
            os.kill(os.getpid(), signal.SIGINT)
    sender = threading.Thread(target=tell, daemon=True)
    sender.start()
    while sender.is_alive():
        try:
            messages.get_nowait()
        except queue.Empty:
            pass
    assert interrupted()
"""


def test_an_interruption_may_come_at_any_moment():
    subprocess.run(
        [sys.executable, "-c", MANY], check=True, timeout=240, env=ENVIRONMENT | {"PYTHONPATH": f"{ROOT / 'src'}"}
    )


def test_when_the_driver_is_killed_its_workers_and_their_stages_end_and_nothing_is_half_recorded(tiny, undisturbed):
    process = hold(tiny)
    stage, worker = begun(tiny)
    process.kill()
    process.communicate()
    wait_for(lambda: not alive(stage) and not alive(worker))
    assert "slow" not in tiny.recorded()
    assert "begins at 0" not in run(tiny)
    finished(tiny, undisturbed)


def test_when_a_local_worker_is_killed_its_stage_goes_on_from_its_checkpoint(tiny, undisturbed):
    process = hold(tiny, "--workers", "1")
    _, worker = begun(tiny)
    os.kill(worker, signal.SIGKILL)
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == 0, printed
    assert "slow: its worker" in printed
    assert len(pids(tiny)) == 2
    assert len([line for line in printed.splitlines() if "slow| begins at" in line]) == 2
    assert printed.count("slow| begins at 0") == 1
    finished(tiny, undisturbed)


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler on loopback and three workers, started by hand; the address, and the workers' processes by number."""
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    own = ENVIRONMENT | {"PYTHONPATH": f"{ROOT / 'src'}"}
    processes = [subprocess.Popen([*dask, "--no-dashboard", "--scheduler-file", str(file)], env=own, **quiet)]
    wait_for(file.exists)
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--no-nanny"]
    worker += ["--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
    processes += [subprocess.Popen(worker, env=own, **quiet) for _ in range(3)]
    wait_for(file.read_text)
    yield json.loads(file.read_text())["address"], {process.pid: process for process in processes[1:]}
    for process in processes:
        process.kill()
        process.wait()


def test_a_scheduler_that_is_there_is_used_and_a_killed_worker_does_not_matter(tiny, undisturbed, scheduler):
    address, workers = scheduler
    process = hold(tiny, "--scheduler", address)
    _, worker = begun(tiny)
    workers[worker].kill()
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == 0, printed
    assert len(pids(tiny)) == 2
    assert printed.count("slow| begins at 0") == 1
    finished(tiny, undisturbed)
    assert all(one.poll() is None for pid, one in workers.items() if pid != worker)


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL])
def test_a_driver_that_ends_leaves_the_workers_of_others_alone_and_no_stage_running(
    tiny, undisturbed, scheduler, number
):
    address, workers = scheduler
    process = hold(tiny, "--scheduler", address)
    stage, _ = begun(tiny)
    process.send_signal(number)
    process.communicate(timeout=120)
    wait_for(lambda: not alive(stage))
    time.sleep(0.5)
    assert len(pids(tiny)) == 1
    assert all(one.poll() is None for one in workers.values())
    assert "slow" not in tiny.recorded()
    assert "begins at 0" not in run(tiny, "--scheduler", address)
    finished(tiny, undisturbed)
