"""The machines that stages run on: workers of this one, of a scheduler that is there, and of SLURM (a stand-in)."""

import os
import signal
import socket
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from types import SimpleNamespace

import dask
import pytest
from processes import alive, wait_for
from tiny import until

from dvc_parallel import clusters, slurm
from dvc_parallel.command import Command
from dvc_parallel.errors import InputError
from dvc_parallel.pool import Pool, Room


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
            client = stack.enter_context(clusters.local(2))
        yield client
        pids = processes(client)
    assert len(pids) == 2
    wait_for(lambda: not any(map(alive, pids)))


def test_local_workers_run_a_stage_each_on_loopback_only_and_the_first_have_the_gpus(client):
    workers = client.scheduler_info(n_workers=-1)["workers"]
    assert all(address.startswith("tcp://127.0.0.1:") for address in [*workers, client.scheduler.address])
    assert client.dashboard_link.startswith("http://127.0.0.1:")
    assert [(worker["nthreads"], worker["memory_limit"]) for worker in workers.values()] == [(1, 0)] * 2
    seen = client.run(environment, "CUDA_VISIBLE_DEVICES")
    offered = {workers[address]["name"]: (seen[address], workers[address]["resources"]) for address in workers}
    assert offered == {0: ("3", {"GPU": 1}), 1: ("", {})}
    allowed = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.allowed_failures)
    assert allowed == clusters.ALLOWED_FAILURES


def test_a_scheduler_that_is_there_lives_on_with_its_workers(client):
    for _ in range(2):
        with clusters.existing(client.scheduler.address) as other:
            assert processes(other) == processes(client)


@pytest.mark.parametrize("address", ["", "tcp://127.0.0.1:1", "http://127.0.0.1:80", "8786", "mute", "worker"])
def test_an_address_where_no_scheduler_answers_is_refused(client, address, monkeypatch):
    monkeypatch.setattr(clusters, "REACHED_WITHIN", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        (worker, *_) = client.scheduler_info()["workers"]
        other = {"mute": f"tcp://127.0.0.1:{mute.getsockname()[1]}", "worker": worker}
        with pytest.raises(InputError, match=r"^--scheduler: \S+: no Dask scheduler answers there"):
            clusters.existing(other.get(address, address)).__enter__()


def heard(messages, kind):
    """The next message of this kind."""
    while (message := messages.get(timeout=600))[0] != kind:
        pass
    return message


def command(folder, *lines, gpu=False):
    return Command("stage", lines, str(folder), {}, 1, gpu)


def test_a_command_runs_on_a_worker_and_when_it_has_ended_dask_forgets_it(client, tmp_path):
    """Dask would run it again, if its result were lost with the worker."""
    messages = SimpleQueue()
    pool = Pool(client, messages, machine=5)
    assert pool.room() == Room(stages=2, cores=5, largest=5, gpus=1, ever=True)
    pool.submit(command(tmp_path, "echo sees $CUDA_VISIBLE_DEVICES, has $PYTHON_CPU_COUNT", gpu=True), 4)
    name, worker, cores = heard(messages, "began")[1:]
    assert (name, cores) == ("stage", 4)
    assert worker in client.scheduler_info()["workers"]
    assert heard(messages, "line") == ("line", "stage", "sees 3, has 4")
    assert heard(messages, "ended")[2].code == 0
    wait_for(lambda: not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))


def test_a_command_whose_worker_is_killed_runs_again_and_is_cancelled_wherever_it_runs(client, tmp_path):
    messages = SimpleQueue()
    pool = Pool(client, messages)
    pool.submit(command(tmp_path, "echo $PPID", until("never")), 1)
    workers = client.run(os.getpid)
    for _ in range(2):
        worker = heard(messages, "began")[2]
        guard = int(heard(messages, "line")[2])
        if worker in workers:
            os.kill(workers[worker], signal.SIGKILL)
            wait_for(lambda guard=guard: not alive(guard))
            workers = {}
    pool.cancel()
    assert isinstance(heard(messages, "ended")[2], BaseException)
    wait_for(lambda: not alive(guard))
    client.wait_for_workers(2, timeout=600)
    assert sorted(client.run(environment, "CUDA_VISIBLE_DEVICES").values()) == ["", "3"]


def test_that_there_were_gpus_is_known_while_the_worker_that_has_them_is_gone(monkeypatch):
    monkeypatch.setattr("dvc_parallel.pool.SECONDS_BETWEEN_LOOKS", -1)
    workers = {"x": {"nthreads": 2, "resources": {"GPU": 1.0}}, "y": {"nthreads": 1, "resources": {}}}
    client = SimpleNamespace(subscribe_topic=lambda *of: None, scheduler_info=lambda: {"workers": workers})
    pool = Pool(client, SimpleQueue(), each=4)
    assert pool.room() == Room(stages=3, cores=12, largest=8, gpus=1, ever=True)
    del workers["x"]
    assert pool.room() == Room(stages=1, cores=4, largest=4, gpus=0, ever=True)
    assert Pool(client, SimpleQueue()).room() == Room(1, 1, 1, 0, ever=False)


NUMBERS_AND_NAMES = [(None, 2, ["0", "1"]), ("2, GPU-7", 3, ["2", "GPU-7"]), ("1,3,2", 3, ["1"]), ("1,-1,2", 3, ["1"])]


@pytest.mark.parametrize(("named", "count", "expected"), [*NUMBERS_AND_NAMES, ("", 2, []), (None, 0, []), ("0", 0, [])])
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


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "project/.dvc").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")


def script_of(options):
    return slurm.script(slurm.arguments(options))


def test_a_job_script_has_the_options_over_the_users_configuration_and_one_worker_of_one_thread(project):
    own = {"cores": 4, "memory": "8GB", "log-directory": "elsewhere", "job-extra-directives": ["--exclusive"]}
    with dask.config.set({f"jobqueue.slurm.{key}": value for key, value in own.items()}):
        script = script_of({"gpus": 1, "queue": "long"})
    for line in ("--cpus-per-task=4", "--mem=8G", "-o elsewhere/", "--exclusive", "--gres=gpu:1", "-p long"):
        assert f"\n#SBATCH {line}" in script
    assert "--nthreads 1" in script
    assert "--resources GPU=1" in script


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cores": 8}, "a job's cores and memory are needed"),
        ({"cores": 0}, "a job's cores and memory are needed"),
        ({"cores": 8, "wall_time": "1:00"}, "wall_time is unknown; it takes account, "),
        ({"cores": "many"}, "cores=many: it takes a whole number"),
        ({"cores": 8, "memory": "much"}, "Could not interpret 'much'"),
    ],
)
def test_bad_options_of_a_job_are_refused(project, options, said):
    with pytest.raises(InputError) as refused:
        script_of(options)
    assert str(refused.value).startswith(f"--slurm-option: {said}")


# The stand-in's jobs are on this machine, and find its scheduler on loopback.
OPTIONS = {"cores": "2", "memory": "1GB", "interface": "lo", "walltime": "00:10:00"}
SBATCH = """#!/bin/bash
if [ -e {folder}/refuse ]; then echo x >> {folder}/refused; echo "sbatch: error: invalid account" >&2; exit 1; fi
cp "$1" {folder}/job-$$.sh
setsid bash {folder}/job-$$.sh >> {folder}/log 2>&1 < /dev/null &
echo $! >> {folder}/submitted
echo "Submitted batch job $!"
"""
SCANCEL = '#!/bin/bash\nkill -TERM -- "-$1"'


@pytest.fixture
def fake_slurm(project, tmp_path, monkeypatch):
    """A folder with sbatch and scancel; its file `submitted` has the process of each job."""
    for name, script in (("sbatch", SBATCH), ("scancel", SCANCEL), ("submitted", ""), ("refused", "")):
        (tmp_path / name).write_text(script.format(folder=tmp_path))
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    yield tmp_path
    for pid in submitted(tmp_path):
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def submitted(folder):
    return [int(line) for line in (folder / "submitted").read_text().split()]


@pytest.mark.slow
def test_jobs_run_in_this_folder_are_replaced_when_they_die_and_end_with_it(fake_slurm, monkeypatch):
    """Even when SLURM refuses the new job twice."""
    monkeypatch.setattr(slurm, "CHECKED_EVERY", 0.3)
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "500 ms"}),
        slurm.running(2, slurm.arguments(OPTIONS | {"gpus": 1})) as client,
    ):
        client.wait_for_workers(2, timeout=600)
        lost, kept = submitted(fake_slurm)
        assert {os.getsid(pid) for pid in processes(client)} == {lost, kept}
        assert set(client.run(os.getcwd).values()) == {os.getcwd()}
        assert Pool(client, SimpleQueue(), each=2).room() == Room(2, 4, 2, gpus=2, ever=True)
        (fake_slurm / "refuse").touch()
        os.killpg(lost, signal.SIGKILL)
        wait_for(lambda: len((fake_slurm / "refused").read_text().split()) >= 2)
        (fake_slurm / "refuse").unlink()
        (new,) = wait_for(lambda: submitted(fake_slurm)[2:])
        wait_for(lambda: {os.getsid(pid) for pid in processes(client)} == {kept, new})
    wait_for(lambda: not alive(kept) and not alive(new))
    assert len(submitted(fake_slurm)) == 3


@pytest.mark.parametrize(
    ("interface", "said"), [("lo", "sbatch refused the job: sbatch: error: invalid account$"), ("ib7", ".*'ib7'")]
)
def test_what_slurm_or_the_network_refuses_is_one_line(fake_slurm, interface, said):
    (fake_slurm / "refuse").touch()
    with pytest.raises(InputError, match=f"^--slurm: {said}"):
        slurm.running(2, slurm.arguments(OPTIONS | {"interface": interface})).__enter__()


def test_without_sbatch_there_is_no_slurm(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"^--slurm: no sbatch on PATH"):
        slurm.check()
