import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

import dask
import psutil
import pytest
from dask_jobqueue import SLURMCluster
from processes import alive, wait_for

from dvc_parallel import clusters, slurm
from dvc_parallel.errors import InputError

SBATCH = """#!/bin/bash
if [ -e {folder}/refuse ]; then echo "sbatch: error: invalid account" >&2; exit 1; fi
cp "$1" {folder}/job-$$.sh
setsid bash {folder}/job-$$.sh >> {folder}/log 2>&1 < /dev/null &
echo $! >> {folder}/submitted
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/bash
kill -TERM -- "-$1"
"""
INTERRUPTED = """
import time
import distributed
from dvc_parallel import clusters
if __name__ == "__main__":
    try:
        with clusters.local(2) as client:
            futures = client.map(time.sleep, range(50, 54))
            print("waits", flush=True)
            {wait}
    except KeyboardInterrupt:
        print("interrupted")
"""
# What a test submits: the fake SLURM's jobs are on this machine, and find its scheduler on loopback.
OPTIONS = {"cores": "2", "memory": "1GB", "interface": "lo", "walltime": "00:10:00"}


@pytest.fixture
def fake_slurm(tmp_path, monkeypatch):
    """A folder with sbatch and scancel; its file `submitted` has the process of each job."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, script in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (folder / name).write_text(script.format(folder=folder))
        (folder / name).chmod(0o755)
    (folder / "submitted").touch()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    project = tmp_path / "project"
    (project / ".dvc").mkdir(parents=True)
    monkeypatch.chdir(project)
    yield folder
    for pid in submitted(folder):
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def submitted(folder):
    return [int(line) for line in (folder / "submitted").read_text().split()]


def environment(name):
    return os.environ.get(name)


def processes(client):
    return set(client.run(os.getpid).values())


class TestLocal:
    def test_has_so_many_workers_of_one_thread_without_a_memory_limit_on_loopback_only(self):
        with clusters.local(2) as client:
            workers = client.scheduler_info(n_workers=-1)["workers"]
            assert [worker["nthreads"] for worker in workers.values()] == [1, 1]
            assert [worker["memory_limit"] for worker in workers.values()] == [0, 0]
            assert all(address.startswith("tcp://127.0.0.1:") for address in [*workers, client.scheduler.address])
            assert client.dashboard_link.startswith("http://127.0.0.1:")
            assert set(client.run(environment, "CUDA_VISIBLE_DEVICES").values()) == {
                environment("CUDA_VISIBLE_DEVICES")
            }
            pids = processes(client)
            assert len(pids) == 2
        wait_for(lambda: not any(map(alive, pids)))

    def test_looks_at_itself_seldom_in_every_process(self):
        def settings():
            return {key: dask.config.get(key) for key in clusters.SELDOM}

        with clusters.local(1) as client:
            assert settings() == clusters.SELDOM
            assert [*client.run(settings).values()] == [clusters.SELDOM]

    def test_takes_another_port_for_the_dashboard_without_a_word(self, capfd):
        with clusters.local(1) as first, clusters.local(1) as second:
            assert first.dashboard_link != second.dashboard_link
        assert capfd.readouterr() == ("", "")

    def test_gives_each_of_the_first_workers_a_gpu_of_its_own(self, monkeypatch):
        monkeypatch.setattr(clusters, "gpus", lambda: ["3", "GPU-5"])
        with clusters.local(3) as client:
            workers = client.scheduler_info(n_workers=-1)["workers"]
            seen = client.run(environment, "CUDA_VISIBLE_DEVICES")
            offered = {workers[address]["name"]: (seen[address], workers[address]["resources"]) for address in workers}
            assert offered == {0: ("3", {"GPU": 1}), 1: ("GPU-5", {"GPU": 1}), 2: ("", {})}
            both = client.map(environment, ["CUDA_VISIBLE_DEVICES"] * 6, resources={"GPU": 1}, pure=False)
            assert set(client.gather(both)) <= {"3", "GPU-5"}

    def test_gives_a_worker_that_is_started_again_the_same_gpu(self, monkeypatch, capfd):
        monkeypatch.setattr(clusters, "gpus", lambda: ["3"])
        with clusters.local(1) as client:
            (before,) = processes(client)
            os.kill(before, signal.SIGKILL)
            there = client.submit(environment, "CUDA_VISIBLE_DEVICES", resources={"GPU": 1}, pure=False)
            assert there.result(timeout=600) == "3"
            assert processes(client) != {before}
        assert capfd.readouterr() == ("", "")

    def test_tries_a_stage_again_that_has_lost_several_workers(self, tmp_path, capfd):
        with clusters.local(1) as client:
            assert client.submit(_survives, tmp_path / "tries", 6).result(timeout=600) == 7
        assert capfd.readouterr() == ("", "")

    def test_ends_with_work_under_way_without_a_word(self, tmp_path, capfd):
        with clusters.local(1) as client:
            (pid,) = processes(client)
            running = client.submit(_touches_and_sleeps, tmp_path / "begun")
            wait_for((tmp_path / "begun").exists)
            assert not running.done()
        assert not alive(pid)
        assert capfd.readouterr() == ("", "")

    def test_leaves_ctrl_c_to_this_process(self, capfd):
        with clusters.local(1) as client:
            (pid,) = processes(client)
            os.kill(pid, signal.SIGINT)
            assert client.submit(os.getpid).result(timeout=600) == pid
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize(
        "wait",
        ["client.gather(futures)", pytest.param("list(distributed.as_completed(futures))", marks=pytest.mark.slow)],
    )
    def test_ends_at_ctrl_c_on_a_terminal_with_all_its_processes_and_without_a_word(self, wait, tmp_path):
        (tmp_path / "run.py").write_text(INTERRUPTED.format(wait=wait))
        command = [sys.executable, tmp_path / "run.py"]
        with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True, start_new_session=True) as run:
            assert run.stdout.readline() == "waits\n"
            children = psutil.Process(run.pid).children(recursive=True)
            time.sleep(0.5)
            os.killpg(run.pid, signal.SIGINT)
            assert run.communicate(timeout=600) == ("interrupted\n", "")
        assert len(children) >= 2
        wait_for(lambda: not any(alive(child.pid) for child in children))


def _touches_and_sleeps(file):
    file.touch()
    time.sleep(100)


def _survives(tries, deaths):
    with tries.open("a") as file:
        file.write("x")
    if len(tries.read_text()) <= deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    return len(tries.read_text())


class TestExisting:
    def test_leaves_scheduler_and_workers_running(self, capfd):
        with clusters.local(1) as client:
            address = client.scheduler.address
            for _ in range(2):
                with clusters.existing(address) as other:
                    assert other.submit(os.getpid, pure=False).result(timeout=600) in processes(client)
            assert client.submit(abs, -3).result(timeout=600) == 3
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize(
        "address", ["", "tcp://127.0.0.1:1", "tcp://127.0.0.1", "http://127.0.0.1:80", "8786", "a b"]
    )
    def test_refuses_an_address_where_no_scheduler_is(self, address, monkeypatch, capfd):
        monkeypatch.setattr(clusters, "REACHED_WITHIN", 0.5)
        with pytest.raises(InputError, match=rf"^--scheduler: {address or 'nothing'}: no Dask scheduler answers there"):
            clusters.existing(address).__enter__()
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize("other", ["dashboard", "mute", "worker"])
    def test_refuses_an_address_where_something_else_answers(self, other, monkeypatch, capfd):
        monkeypatch.setattr(clusters, "REACHED_WITHIN", 2)
        with socket.create_server(("127.0.0.1", 0)) as mute, clusters.local(1) as client:
            (worker,) = client.scheduler_info()["workers"]
            dashboard = client.dashboard_link.replace("http", "tcp").removesuffix("/status")
            address = {"mute": f"tcp://127.0.0.1:{mute.getsockname()[1]}", "worker": worker, "dashboard": dashboard}[
                other
            ]
            with pytest.raises(InputError, match="no Dask scheduler answers there"):
                clusters.existing(address).__enter__()
        assert capfd.readouterr() == ("", "")


class TestGpus:
    def test_are_none_without_nvidia_smi(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
        assert clusters.gpus() == []

    @pytest.mark.parametrize(
        ("named", "count", "expected"),
        [
            (None, 2, ["0", "1"]),
            ("2, GPU-7", 3, ["2", "GPU-7"]),
            ("1,-1,2", 3, ["1"]),
            ("1,3,2", 3, ["1"]),
            ("", 2, []),
            (None, 0, []),
            ("0", 0, []),
        ],
    )
    def test_are_those_that_cuda_visible_devices_leaves(self, named, count, expected, tmp_path, monkeypatch):
        said = "".join(f"echo 'GPU {number}: H100 (UUID: GPU-{number})'\n" for number in range(count))
        (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{said or 'echo no driver; exit 9'}")
        (tmp_path / "nvidia-smi").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        if named is not None:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
        assert clusters.gpus() == expected


def script_of(options):
    return slurm.script(slurm.arguments(options))


def running(jobs, options):
    return slurm.running(jobs, slurm.arguments(options))


class TestJobScript:
    @pytest.fixture(autouse=True)
    def _elsewhere(self, tmp_path, monkeypatch):
        (tmp_path / ".dvc").mkdir()
        monkeypatch.chdir(tmp_path)

    def test_is_what_dask_jobqueue_writes_for_the_same_arguments(self):
        theirs = {"queue": "long", "account": "lab", "memory": "16GB", "walltime": "24:00:00", "log_directory": "logs"}
        directives, extra = ["--constraint=a100", "--gres=gpu:1"], ["--lifetime", "23h", "--resources", "GPU=1"]
        with SLURMCluster(
            **theirs,
            cores=1,
            processes=1,
            job_cpu=8,
            python=sys.executable,
            job_extra_directives=directives,
            worker_extra_args=extra,
            scheduler_options={"host": "127.0.0.1", "dashboard_address": ":0"},
        ) as cluster:
            expected = cluster.job_script().replace(cluster.scheduler_address, slurm.NO_SCHEDULER)
        ours = {"cores": 8, "gpus": 1, "job_extra_directives": directives[:1], "worker_extra_args": extra[:2]}
        assert script_of(theirs | ours) == expected

    def test_books_the_cores_for_one_worker_of_one_thread_with_this_python(self):
        script = script_of({"cores": "8", "memory": "16GB"})
        assert "#SBATCH --cpus-per-task=8\n" in script
        assert "#SBATCH --mem=15G\n" in script
        assert f"\n{sys.executable} -m distributed.cli.dask_worker " in script
        assert " --nthreads 1 " in script
        assert "--nworkers" not in script
        assert "gres" not in script
        assert "GPU" not in script
        assert f"#SBATCH -o {Path.cwd()}/.dvc/tmp/dvc-parallel/slurm/" in script

    def test_asks_for_gpus_and_tells_dask_of_them(self):
        script = script_of({"cores": "8", "memory": "16GB", "gpus": "2", "job_extra_directives": "--exclusive"})
        assert "\n#SBATCH --exclusive\n#SBATCH --gres=gpu:2\n" in script
        assert script.rstrip().endswith(" --resources GPU=2")

    def test_keeps_what_the_users_configuration_says(self):
        with dask.config.set(
            {
                "jobqueue.slurm.cores": 4,
                "jobqueue.slurm.memory": "8GB",
                "jobqueue.slurm.queue": "mine",
                "jobqueue.slurm.log-directory": "elsewhere",
                "jobqueue.slurm.job-extra-directives": ["--exclusive"],
                "jobqueue.slurm.worker-extra-args": ["--lifetime", "1h"],
            }
        ):
            script = script_of({"gpus": 1})
            wider = script_of({"cores": 6})
        assert "#SBATCH --cpus-per-task=4\n" in script
        assert "#SBATCH -p mine\n" in script
        assert "#SBATCH -o elsewhere/" in script
        assert "#SBATCH --exclusive\n#SBATCH --gres=gpu:1\n" in script
        assert script.rstrip().endswith(" --lifetime 1h --resources GPU=1")
        assert "#SBATCH --cpus-per-task=6\n" in wider

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({}, "a job's cores and memory are needed"),
            ({"cores": 8}, "a job's cores and memory are needed"),
            ({"memory": "8GB"}, "a job's cores and memory are needed"),
            ({"cores": 0, "memory": "8GB"}, "a job's cores and memory are needed"),
            ({"cores": 8, "memory": "8GB", "wall_time": "1:00"}, "wall_time is unknown"),
            ({"cores": "many", "memory": "8GB"}, "cores=many: it takes a whole number"),
            ({"cores": 8, "memory": "8GB", "gpus": -1}, "gpus=-1: it takes a whole number"),
            ({"cores": 8, "memory": "much"}, "Could not interpret 'much'"),
        ],
    )
    def test_refuses_options_in_one_line(self, options, said):
        with pytest.raises(InputError) as refused:
            script_of(options)
        assert str(refused.value).startswith(f"--slurm-option: {said}")

    def test_names_the_options_that_there_are(self):
        with pytest.raises(InputError, match=r"it takes account, cores, gpus, .*, worker_extra_args$"):
            script_of({"core": 8})


class TestSlurm:
    def test_runs_on_jobs_in_this_folder_which_end_with_it(self, fake_slurm, capfd):
        with running(2, OPTIONS | {"gpus": 1}) as client:
            client.wait_for_workers(2, timeout=600)
            jobs = submitted(fake_slurm)
            assert len(jobs) == 2
            assert set(client.run(os.getcwd).values()) == {os.getcwd()}
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            assert [(worker["nthreads"], worker["resources"]) for worker in workers] == [(1, {"GPU": 1})] * 2
            assert {os.getsid(pid) for pid in processes(client)} == set(jobs)
            where = client.submit(os.getpid, resources={"GPU": 1}, pure=False)
            assert os.getsid(where.result(timeout=600)) in jobs
        wait_for(lambda: not any(map(alive, jobs)))
        assert submitted(fake_slurm) == jobs
        assert capfd.readouterr() == ("", "")

    def test_replaces_a_job_that_dies_even_if_slurm_refuses_at_first(self, fake_slurm, monkeypatch, capfd):
        monkeypatch.setattr(slurm, "CHECKED_EVERY", 0.3)
        with (
            dask.config.set({"distributed.deploy.lost-worker-timeout": "500 ms"}),
            running(2, OPTIONS) as client,
        ):
            client.wait_for_workers(2, timeout=600)
            lost, kept = submitted(fake_slurm)
            (fake_slurm / "refuse").touch()
            os.killpg(lost, signal.SIGKILL)
            time.sleep(3)
            assert submitted(fake_slurm) == [lost, kept]
            (fake_slurm / "refuse").unlink()
            (new,) = wait_for(lambda: submitted(fake_slurm)[2:])
            wait_for(lambda: {os.getsid(pid) for pid in processes(client)} == {kept, new})
        wait_for(lambda: not alive(kept) and not alive(new))
        assert len(submitted(fake_slurm)) == 3
        assert capfd.readouterr() == ("", "")

    def test_says_in_one_line_that_slurm_refuses(self, fake_slurm, capfd):
        (fake_slurm / "refuse").touch()
        with pytest.raises(InputError, match=r"^--slurm: sbatch refused the job: sbatch: error: invalid account$"):
            running(2, OPTIONS).__enter__()
        assert capfd.readouterr() == ("", "")

    def test_says_in_one_line_that_there_is_no_slurm(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(InputError, match=r"^--slurm: no sbatch on PATH"):
            slurm.check()

    def test_says_in_one_line_that_there_is_no_such_network_interface(self, fake_slurm, capfd):
        with pytest.raises(InputError, match=r"^--slurm: .*'ib7'"):
            running(1, OPTIONS | {"interface": "ib7"}).__enter__()
        assert capfd.readouterr() == ("", "")
