"""Stages that run on Dask's workers, and workers that are lost."""

import os
import queue
import signal
import time

from processes import wait_for

from dvc_parallel import clusters
from dvc_parallel.command import Command
from dvc_parallel.pool import Pool


def command(folder, line):
    return Command("stage", (line,), str(folder), {}, 1, False)


def kill(client):
    for pid in client.run(os.getpid).values():
        os.kill(pid, signal.SIGKILL)


def test_what_has_ended_does_not_run_again_when_its_worker_is_lost(tmp_path):
    with clusters.local(1) as client:
        ended = queue.SimpleQueue()
        Pool(client, print).submit(command(tmp_path, "echo once >> ran"), 1, ended.put)
        wait_for(lambda: not ended.empty())
        kill(client)
        time.sleep(5)
        assert ended.get().code == 0
        assert ended.empty()
    assert (tmp_path / "ran").read_text() == "once\n"


def test_what_runs_on_a_worker_that_is_lost_can_be_cancelled(tmp_path):
    with clusters.local(1) as client:
        pool, ended = Pool(client, print), queue.SimpleQueue()
        pool.submit(command(tmp_path, "touch began; sleep 60"), 1, ended.put)
        wait_for((tmp_path / "began").exists)
        kill(client)
        pool.cancel()
        assert isinstance(ended.get(timeout=60), BaseException)
