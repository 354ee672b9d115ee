"""`dvc-parallel repro` beside `dvc repro` at smoke scale: the same dvc.lock, however many workers."""

import re
import signal
import subprocess
import sys

import psutil
import pytest
from processes import wait_for
from undisturbed import anew, same

pytestmark = pytest.mark.slow

ROUNDS = 10


def start(copy, *arguments, **options):
    """The copy's own program; on one core, as DVC here, so that small stages start no processes."""
    copy.environment["PYTHONPATH"] = str(copy.path / "src")
    return copy.start(sys.executable, "-m", "dvc_parallel", "repro", *arguments, **options)


def stages_of(worker):
    """The processes of the stages that a worker runs."""
    try:
        children = psutil.Process(worker).children(recursive=True)
        return [one for one in children if any("stages." in part for part in one.cmdline())]
    except psutil.Error:
        return []


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("number", range(ROUNDS))
def test_it_leaves_what_a_serial_run_leaves(workers, number, finished, tmp_path, tally):
    copy = anew(finished, tmp_path / "copy")
    program = start(copy, "--workers", str(workers))
    printed = program.communicate()[0]
    del copy.environment["PYTHONPATH"]
    survived = program.returncode == 0 and same(copy, finished)
    tally(f"all at once, {workers} workers: dvc.lock and results as of `dvc repro`", 1, survived)
    assert survived, printed
    assert (copy.path / "dvc.lock").read_bytes() == (finished.path / "dvc.lock").read_bytes()
    assert copy.ran("dvc", "repro") == set()


def test_with_three_workers_of_a_scheduler_of_which_one_is_killed_it_leaves_the_same(finished, tmp_path, tally):
    copy = anew(finished, tmp_path / "copy")
    file, own = tmp_path / "scheduler.json", copy.environment | {"PYTHONPATH": str(copy.path / "src")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": own, "cwd": copy.path}
    scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    worker = ["distributed.cli.dask_worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    to = ["--scheduler-file", str(file)]
    processes = [subprocess.Popen([sys.executable, "-m", *scheduler, *to], **quiet)]
    try:
        wait_for(lambda: file.exists() and file.read_text())
        processes += [subprocess.Popen([sys.executable, "-m", *worker, *to], **quiet) for _ in range(3)]
        address = re.search(r"tcp://[\d.:]+", file.read_text())[0]
        with (tmp_path / "log").open("w+") as log:
            program = start(copy, "--scheduler", address, stdout=log)
            wait_for(lambda: "Running stage 'evaluate" in (tmp_path / "log").read_text(), 600)
            busy = wait_for(lambda: next((one for one in processes[1:] if stages_of(one.pid)), None))
            busy.send_signal(signal.SIGKILL)
            exit_code = program.wait()
            log.seek(0)
            printed = log.read()
        del copy.environment["PYTHONPATH"]
        survived = exit_code == 0 and same(copy, finished)
        tally("kill -9 of one of three workers of a Dask scheduler", 1, survived)
        assert survived, printed
        assert "is gone; it goes on at" in printed
        assert copy.ran("dvc", "repro") == set()
    finally:
        for process in processes:
            process.kill()
            process.wait()
