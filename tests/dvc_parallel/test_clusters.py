"""A stage's command, and the machines that it runs on: workers of this one, of a scheduler that is there."""

import errno
import os
import signal
import socket
import sys
from contextlib import ExitStack
from multiprocessing import synchronize

import pytest
from processes import alive, wait_for
from tiny import until

from dvc_parallel import clusters
from dvc_parallel import command as commands
from dvc_parallel.command import CORES, Command, run
from dvc_parallel.exceptions import UsageError
from dvc_parallel.run import Pool, Room


def environment(name):
    return os.environ.get(name)


def processes(client):
    return set(client.run(os.getpid).values())


@pytest.fixture(scope="module")
def client():
    """Two workers, one of which has a GPU; none of their processes is left at the end."""
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clusters, "gpus", lambda: ["3"])
            client = stack.enter_context(clusters.local(2)).client
        yield client
        pids = processes(client)
    assert len(pids) == 2
    wait_for(lambda: not any(map(alive, pids)))


def test_local_workers_run_a_stage_each_on_loopback_only_and_the_first_have_the_gpus(client):
    workers = client.scheduler_info(n_workers=-1)["workers"]
    assert all(address.startswith("tcp://127.0.0.1:") for address in [*workers, client.scheduler.address])
    assert [worker["nthreads"] for worker in workers.values()] == [1, 1]
    seen = client.run(environment, "CUDA_VISIBLE_DEVICES")
    offered = {workers[address]["name"]: (seen[address], workers[address]["resources"]) for address in workers}
    assert offered == {0: ("3", {"GPU": 1}), 1: ("", {})}


def test_without_semaphores_one_line_says_what_to_do(monkeypatch):
    def fail(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(synchronize._multiprocessing, "SemLock", fail)
    with pytest.raises(UsageError, match=r"^no semaphores \(.*Read-only file system\); make /dev/shm "):
        clusters.local(1).__enter__()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "8786", "mute", "worker"])
def test_an_address_where_no_scheduler_answers_is_refused(client, address, monkeypatch):
    monkeypatch.setattr(clusters, "REACHED_WITHIN", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        (worker, *_) = client.scheduler_info()["workers"]
        other = {"mute": f"tcp://127.0.0.1:{mute.getsockname()[1]}", "worker": worker}
        with pytest.raises(UsageError, match=r"^--scheduler: \S+: no Dask scheduler answers there"):
            clusters.existing(other.get(address, address)).__enter__()


def heard(pool, kind):
    """What the next message of this kind says."""
    while (message := pool.messages.get(timeout=600))[0] != kind:
        pass
    return message[2]


def command(folder, *lines, gpu=False):
    return Command("stage", lines, str(folder), {}, 1, gpu)


def test_a_command_runs_on_a_worker_and_when_it_has_ended_dask_forgets_it(client, tmp_path):
    """Dask would run it again, if its result were lost with the worker."""
    pool = Pool(client, machine_cores=5)
    assert pool.room() == Room(stages=2, cores=5, largest=5, gpus=1, ever=True)
    line = "echo sees $CUDA_VISIBLE_DEVICES, has $PYTHON_CPU_COUNT; echo $MALLOC_TRIM_THRESHOLD_"
    pool.submit(command(tmp_path, line, gpu=True), 4)
    assert heard(pool, "began") in client.scheduler_info()["workers"]
    assert heard(pool, "line") == "sees 3, has 4"
    assert heard(pool, "line") == ""
    assert heard(pool, "ended").code == 0
    wait_for(lambda: not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))


def test_a_command_whose_worker_is_killed_runs_again_and_is_cancelled_wherever_it_runs(client, tmp_path):
    pool = Pool(client)
    pool.submit(command(tmp_path, "echo $PPID", until("never")), 1)
    workers = client.run(os.getpid)
    for _ in range(2):
        worker = heard(pool, "began")
        guard = int(heard(pool, "line"))
        if worker in workers:
            os.kill(workers[worker], signal.SIGKILL)
            wait_for(lambda guard=guard: not alive(guard))
            workers = {}
    pool.cancel()
    assert isinstance(heard(pool, "ended"), BaseException)
    wait_for(lambda: not alive(guard))
    client.wait_for_workers(2, timeout=600)
    assert sorted(client.run(environment, "CUDA_VISIBLE_DEVICES").values()) == ["", "3"]


@pytest.mark.parametrize(
    ("named", "count", "expected"), [(None, 2, ["0", "1"]), ("2, GPU-7", 3, ["2", "GPU-7"]), ("", 2, []), (None, 0, [])]
)
def test_gpus_are_those_that_cuda_visible_devices_leaves(named, count, expected, tmp_path, monkeypatch):
    """Of so many that nvidia-smi lists; where there are none, there is no such program."""
    if count:
        said = "".join(f"echo 'GPU {number}: H100 (UUID: GPU-{number})'\n" for number in range(count))
        (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{said}")
        (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if named is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert clusters.gpus() == expected


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


def test_what_is_not_wanted_any_more_ends_with_all_its_processes(tmp_path):
    ran = Ran(tmp_path, "sleep 600 & echo $!; sleep 600", wanted=lambda said: not said)
    assert ran.ended.code == 128 + 15
    wait_for(lambda: not alive(int(ran.said[0])))


def test_what_does_not_obey_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "SECONDS_TO_END", 0.3)
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True); time.sleep(600)"
    line = f'exec "{sys.executable}" -c "{stubborn}"'
    assert Ran(tmp_path, line, wanted=lambda said: not said).ended.code == 128 + 9
