"""The machines that stages run on: this one, those of a Dask scheduler that runs already, or jobs of SLURM.

Each gives a `Pool`. A worker runs a stage on each of its threads; one with the Dask resource GPU has a GPU to itself.
"""

import asyncio
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context, resource_tracker
from typing import Any

import dask
from dask.system import cpu_count
from dask_jobqueue.slurm import SLURMCluster, SLURMJob
from distributed import Client, Nanny, Scheduler, SpecCluster, rpc
from distributed.core import Status
from distributed.deploy.adaptive import Adaptive
from distributed.utils import silence_logging_cmgr

from dvc_parallel.exceptions import UsageError
from dvc_parallel.graph import own_folder
from dvc_parallel.run import Pool

# How many workers a stage may lose before it is given up. Each end of a job's walltime is one, and the stage goes on
# from its checkpoint. Not endless, for a stage that kills its machine each time.
ALLOWED_FAILURES = 20
REACHED_WITHIN = 10  # seconds
CHECKED_EVERY = 10  # seconds; SLURM is not asked for a refused job again more often than this
OPTIONS = ("account", "cores", "gpus", "memory", "queue", "walltime")
TAKES = f"it takes {', '.join(OPTIONS)}"
# Below an error Dask tells of workers that it restarts, and of work that it cancels: what it is for, and what is asked.
SHOWN = logging.ERROR
# Made for tasks of milliseconds, Dask samples its threads and loops up to 100 times a second, which takes a tenth of a
# core; and stages would inherit how its workers free memory. These are defaults: what the user has configured prevails.
QUIET = {
    "worker": {"profile": {"enabled": False}},
    "admin": {"tick": {"interval": "1s"}, "system-monitor": {"interval": "10s"}},
    "nanny": {"pre-spawn-environ": {"MALLOC_TRIM_THRESHOLD_": None}},
}
dask.config.update_defaults({"distributed": QUIET})


@contextmanager
def local(workers: int | None) -> Iterator[Pool]:
    """Start so many worker processes of this machine, one a core by default; nothing outside this machine reaches them.

    Each of the first workers has one GPU to itself, while there are GPUs; the others see none. Workers, and what they
    start, never see Ctrl-C: a terminal sends it to all processes, and this one ends the others. Raises UsageError where
    the system gives no semaphores.
    """
    try:
        get_context("spawn").Lock()
    except (ImportError, OSError) as problem:  # Linux has them in /dev/shm
        raise UsageError(
            f"no semaphores ({problem}); make /dev/shm writable, or use PYTHON_CPU_COUNT=1 dvc repro"
        ) from None
    # what a worker takes for an error when it ends, a scheduler that has ended before it, is none
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    cores = cpu_count()
    devices = gpus()
    options = {"nthreads": 1, "memory_limit": 0, "host": "127.0.0.1", "dashboard": False, "silence_logs": SHOWN}
    specification = {}
    workers = workers or max(cores, len(devices))
    for number in range(workers):
        own: dict[str, Any] = {}
        if devices:
            own["env"] = {"CUDA_VISIBLE_DEVICES": devices[number] if number < len(devices) else ""}
            own["resources"] = {"GPU": 1} if number < len(devices) else {}
        specification[number] = {"cls": Nanny, "options": options | own}
    listening = {"host": "127.0.0.1", "dashboard": True, "dashboard_address": "127.0.0.1:0"}
    scheduler = {"cls": Scheduler, "options": listening | {"allowed_failures": ALLOWED_FAILURES}}
    with silence_logging_cmgr(SHOWN):
        with _uninterrupted():
            cluster = SpecCluster(workers=specification, scheduler=scheduler)
        with _connected(cluster) as client:
            yield Pool(client, machine_cores=max(cores, workers))


def gpus() -> list[str]:
    """Return the names of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES has them."""
    if shutil.which("nvidia-smi") is None:
        return []
    listed = subprocess.run(["nvidia-smi", "--list-gpus"], check=False, capture_output=True, text=True).stdout
    count = sum(line.startswith("GPU ") for line in listed.splitlines())
    every = ",".join(map(str, range(count)))
    names = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", every).split(",")]
    return [name for name in names if name not in {"", "-1"}][:count]


@contextmanager
def existing(address: str) -> Iterator[Pool]:
    """Connect to the scheduler at an address, such as tcp://host:8786, whose workers stay when this ends.

    Raises UsageError when none answers there.
    """
    with silence_logging_cmgr(SHOWN):
        try:
            asyncio.run(_identify(address))
            client = Client(address, timeout=REACHED_WITHIN)
        except (OSError, ValueError) as problem:
            said = f"no Dask scheduler answers there within {REACHED_WITHIN} seconds"
            allowed = f"it takes an address such as tcp://host:8786 ({problem or type(problem).__name__})"
            raise UsageError(f"--scheduler: {address or 'nothing'}: {said}; {allowed}") from None
        with client:
            yield Pool(client)


async def _identify(address: str) -> None:
    """Raise where a client of Dask's would wait for ever: it lets what it took for a scheduler take its time."""
    async with asyncio.timeout(REACHED_WITHIN), rpc(address) as there:
        kind = (await there.identity())["type"]
    if kind != "Scheduler":
        raise ValueError(f"a {kind} answers")


class _Job(SLURMJob):
    """A job that says when SLURM refused it: a cluster does not close with one that is neither closed nor failed."""

    async def start(self) -> None:
        """Submit the job."""
        try:
            await super().start()  # type: ignore[no-untyped-call]
        except (OSError, RuntimeError, ValueError):
            self.status = Status.failed
            raise

    async def close(self) -> None:
        """Cancel the job."""
        await super().close()  # type: ignore[no-untyped-call]
        self.status = Status.closed


class _Refilling(Adaptive):
    """Keeps the number of jobs. Dask submits what it knows nothing of: a job that SLURM refused is forgotten."""

    async def adapt(self) -> None:
        """Submit what is missing."""
        try:
            await super().adapt()
        finally:
            workers = self.cluster.workers  # type: ignore[attr-defined]
            for name in [name for name, job in workers.items() if job.status is Status.failed]:
                del workers[name]


@contextmanager
def slurm(jobs: int, job: Mapping[str, Any]) -> Iterator[Pool]:
    """Submit so many jobs of SLURM, one worker each, which end with this; a job that ends before is submitted again.

    `job` is from `slurm_job`. A job runs in the folder of this process, with its Python. Not noticed is a job that ends
    while it waits in SLURM's queue. Raises UsageError when SLURM refuses the first jobs.
    """
    defaults = {"allowed_failures": ALLOWED_FAILURES, "dashboard_address": ":0"}
    scheduler = defaults | dask.config.get("jobqueue.slurm.scheduler-options")
    job_class: Any = _Job  # dask-jobqueue declares an instance
    with silence_logging_cmgr(SHOWN):
        try:
            cluster: Any = SLURMCluster(job_cls=job_class, **job, scheduler_options=scheduler, silence_logs=False)
        except RuntimeError as problem:
            raise UsageError(f"--slurm: {problem}") from None
        with _connected(cluster) as client:
            for _ in range(jobs):  # `scale` would submit them in the background, and keep a refusal to itself
                cluster.worker_spec.update(cluster.new_worker_spec())
            try:
                cluster.sync(lambda: cluster)  # waits until all are submitted
            except (OSError, RuntimeError, ValueError) as problem:
                said = str(problem).partition("stderr:")[2] or problem
                raise UsageError(f"--slurm: sbatch refused the job: {said}") from None
            cluster.adapt(Adaptive=_Refilling, minimum_jobs=jobs, maximum_jobs=jobs, interval=f"{CHECKED_EVERY} s")
            yield Pool(client, cores_per_thread=job["job_cpu"])


def slurm_job(options: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of SLURMCluster: jobs of one worker of one thread, for one stage, which has all the cores.

    `options` are texts by their names in OPTIONS; the user's jobqueue.yaml says the rest. Raises UsageError.
    """
    for name, text in options.items():
        if name not in OPTIONS:
            raise UsageError(f"--slurm-option: {name} is unknown; {TAKES}")
        if name in {"cores", "gpus"} and not (text.isdecimal() and int(text)):
            raise UsageError(f"--slurm-option: {name}={text}: it takes a whole number from 1 on")
    configured = dask.config.get("jobqueue.slurm")
    cores = options.get("cores") or configured["job-cpu"] or configured["cores"]
    memory = options.get("memory") or configured["memory"]
    if not cores or not memory:
        raise UsageError(f"--slurm-option: a job's cores and memory are needed, such as cores=8 memory=16GB; {TAKES}")
    job: dict[str, Any] = {name: text for name, text in options.items() if name not in {"cores", "gpus"}}
    job |= {"cores": 1, "job_cpu": int(cores), "processes": 1, "python": sys.executable}
    job["log_directory"] = configured["log-directory"] or str(own_folder() / "slurm")
    if "gpus" in options:
        job["job_extra_directives"] = [*configured["job-extra-directives"], f"--gres=gpu:{options['gpus']}"]
        job["worker_extra_args"] = [*configured["worker-extra-args"], "--resources", f"GPU={options['gpus']}"]
    return job


def slurm_script(job: Mapping[str, Any]) -> str:
    """Return the script of a job; nothing is submitted. Raises UsageError."""
    try:
        return str(SLURMJob("tcp://<scheduler>", name="<name>", **job).job_script())
    except (TypeError, ValueError) as problem:
        raise UsageError(f"--slurm-option: {problem}; {TAKES}") from None


@contextmanager
def _connected(cluster: Any) -> Iterator[Client]:
    """Give a client, and close both at the end; what Dask and asyncio say of work that they cut off is no error."""
    with ExitStack() as ending:
        ending.callback(logging.disable, logging.root.manager.disable)
        ending.enter_context(cluster)
        client = ending.enter_context(Client(cluster))
        ending.callback(logging.disable, logging.ERROR)
        yield client


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Block Ctrl-C for the threads that are started within, and for the processes that they start."""
    resource_tracker.ensure_running()  # which lets the thread that starts it see Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
