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


def ended(messages):
    """What came of the command."""
    while (message := messages.get(timeout=180))[0] != "ended":
        pass
    return message[2]


def test_what_has_ended_does_not_run_again_when_its_worker_is_lost(tmp_path):
    with clusters.local(1) as client:
        messages = queue.SimpleQueue()
        Pool(client, messages).submit(command(tmp_path, "echo once >> ran"), 1)
        assert ended(messages).code == 0
        kill(client)
        time.sleep(5)
        assert messages.empty()
    assert (tmp_path / "ran").read_text() == "once\n"


def test_what_runs_on_a_worker_that_is_lost_can_be_cancelled(tmp_path):
    with clusters.local(1) as client:
        messages = queue.SimpleQueue()
        pool = Pool(client, messages)
        pool.submit(command(tmp_path, "touch began; sleep 60"), 1)
        wait_for((tmp_path / "began").exists)
        kill(client)
        pool.cancel()
        assert isinstance(ended(messages), BaseException)
