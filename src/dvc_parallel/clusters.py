"""The machines that stages run on: processes of this one, or those of a Dask scheduler that runs already.

Each function gives a connected `distributed.Client`. A worker runs one stage at a time, which divides the cores between
its own processes; a worker with the Dask resource GPU has that many GPUs to itself.
"""

import asyncio
import logging
import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import takewhile
from multiprocessing import resource_tracker
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, SpecCluster, rpc
from distributed.utils import silence_logging_cmgr

from dvc_parallel.errors import InputError

# How many workers a stage may lose before it is given up. Each end of a job's walltime is one, and the stage goes on
# from its checkpoint: with 20, ten hours of dask-jobqueue's default, half an hour. Not endless, for a stage that kills
# its machine each time.
ALLOWED_FAILURES = 20
REACHED_WITHIN = 10  # seconds

# By default Dask looks at its own processes 50 to 100 times a second. That takes time from stages, and shows nothing of
# them: they are processes of their own.
SELDOM = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.profile.enabled": False,
}
# Below an error Dask tells of workers that it restarts, and of work that it cancels: what it is for, and what is asked.
SHOWN = logging.ERROR


@contextmanager
def local(workers: int) -> Iterator[Client]:
    """Start so many worker processes of this machine, which end with it; nothing outside this machine reaches them.

    Each of the first workers has one GPU to itself, while there are GPUs; the others see none. Workers, and what they
    start, never see Ctrl-C: a terminal sends it to all processes, and this one ends the others.
    """
    devices = gpus()
    common = {"nthreads": 1, "memory_limit": 0, "host": "127.0.0.1", "dashboard": False, "silence_logs": SHOWN}
    # what a worker takes for an error when it ends, a scheduler that has ended before it, is none
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    specification = {
        worker: {"cls": Nanny, "options": common | _devices(devices, worker) if devices else common}
        for worker in range(workers)
    }
    listening = {"host": "127.0.0.1", "dashboard": True, "dashboard_address": "127.0.0.1:8787"}
    scheduler = {"cls": Scheduler, "options": listening | {"allowed_failures": ALLOWED_FAILURES}}
    with silence_logging_cmgr(SHOWN), dask.config.set(SELDOM):
        with _uninterrupted(), any_port():
            cluster = SpecCluster(workers=specification, scheduler=scheduler)
        with connected(cluster) as client:
            yield client


@contextmanager
def existing(address: str) -> Iterator[Client]:
    """Connect to the scheduler at an address, such as tcp://host:8786, whose workers stay when this ends.

    Raises InputError when no scheduler answers there.
    """
    with silence_logging_cmgr(SHOWN):
        try:
            asyncio.run(_identified(address))
            client = Client(address, timeout=REACHED_WITHIN)
        except (OSError, ValueError) as problem:
            said = f"no Dask scheduler answers there within {REACHED_WITHIN} seconds"
            allowed = f"it takes an address such as tcp://host:8786 ({problem or type(problem).__name__})"
            raise InputError(f"--scheduler: {address or 'nothing'}: {said}; {allowed}") from None
        with client:
            yield client


def gpus() -> list[str]:
    """Return the names of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES has them."""
    if shutil.which("nvidia-smi") is None:
        return []
    listed = subprocess.run(["nvidia-smi", "--list-gpus"], check=False, capture_output=True, text=True).stdout
    there = [str(number) for number in range(sum(line.startswith("GPU ") for line in listed.splitlines()))]
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        return there
    # as CUDA reads it: a number, or the beginning of a GPU's own name; the first that is neither hides all after it
    names = map(str.strip, named.split(","))
    return list(takewhile(lambda name: name in there or name.startswith(("GPU-", "MIG-")), names))[: len(there)]


def _devices(devices: list[str], worker: int) -> dict[str, Any]:
    if worker >= len(devices):
        return {"env": {"CUDA_VISIBLE_DEVICES": ""}}
    return {"env": {"CUDA_VISIBLE_DEVICES": devices[worker]}, "resources": {"GPU": 1}}


async def _identified(address: str) -> None:
    """Raise where a client of Dask's would wait for ever: it lets what it took for a scheduler take its time."""
    async with asyncio.timeout(REACHED_WITHIN), rpc(address) as there:
        kind = (await there.identity())["type"]
    if kind != "Scheduler":
        raise ValueError(f"a {kind} answers")


@contextmanager
def connected(cluster: Any) -> Iterator[Client]:
    """Give a client, and close both at the end; what Dask and asyncio say of work that they cut off is no error."""
    with ExitStack() as ending:
        ending.callback(logging.disable, logging.root.manager.disable)
        ending.enter_context(cluster)
        client = ending.enter_context(Client(cluster))
        ending.callback(logging.disable, logging.ERROR)
        yield client


@contextmanager
def any_port() -> Iterator[None]:
    """Let Dask choose another port for its dashboard where the usual one is taken, without its warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Port .* is already in use")
        yield


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Block Ctrl-C for the threads that are started within, and for the processes that they start."""
    resource_tracker.ensure_running()  # which lets the thread that starts it see Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
