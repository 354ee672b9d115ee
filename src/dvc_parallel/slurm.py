"""Jobs of SLURM that stages run on, one worker each, by dask-jobqueue."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dask
from dask_jobqueue.slurm import SLURMCluster, SLURMJob
from distributed import Client
from distributed.core import Status
from distributed.deploy.adaptive import Adaptive
from distributed.utils import silence_logging_cmgr

from dvc_parallel.clusters import ALLOWED_FAILURES, SHOWN, any_port, connected
from dvc_parallel.errors import InputError
from dvc_parallel.files import own_folder

CHECKED_EVERY = 10  # seconds; SLURM is not asked for a refused job again more often than this
NO_SCHEDULER = "tcp://<insert-scheduler-address-here>:8786"

_TEXTS = ("account", "interface", "local_directory", "log_directory", "memory", "queue", "walltime")
_LISTS = ("job_directives_skip", "job_extra_directives", "job_script_prologue", "worker_extra_args")
_COUNTS = ("cores", "gpus")
_TAKEN = f"it takes {', '.join(sorted(_TEXTS + _LISTS + _COUNTS))}"


class _Job(SLURMJob):
    """A job that says what became of it; a cluster does not close with a job that is neither closed nor failed."""

    async def start(self) -> None:
        """Submit the job; its status is `failed` when SLURM refuses it, which raises."""
        try:
            await super().start()  # type: ignore[no-untyped-call]
        except (OSError, RuntimeError, ValueError):
            self.status = Status.failed
            raise

    async def close(self) -> None:
        """Cancel the job."""
        await super().close()  # type: ignore[no-untyped-call]
        self.status = Status.closed


class _Cluster(SLURMCluster):
    job_cls = _Job


class _Refilling(Adaptive):
    """Keeps the number of jobs. Dask submits what it knows nothing of: a failed job is forgotten."""

    async def adapt(self) -> None:
        """Submit what is missing; a job that SLURM refuses is tried again the next time."""
        try:
            await super().adapt()
        finally:
            workers = self.cluster.workers  # type: ignore[attr-defined]
            for name in [name for name, job in workers.items() if job.status is Status.failed]:
                del workers[name]


@contextmanager
def running(jobs: int, arguments: Mapping[str, Any]) -> Iterator[Client]:
    """Submit so many jobs of SLURM, one worker each, which end with this; a job that ends before is submitted again.

    `arguments`: of `arguments`. A job runs in the folder of this process, with its Python: both are on a file system
    that the jobs share. Raises InputError when SLURM refuses the first jobs.

    A job that ends while it waits in SLURM's queue is not noticed: Dask sees its worker come and go, not the queue.
    """
    scheduler = {"allowed_failures": ALLOWED_FAILURES} | dask.config.get("jobqueue.slurm.scheduler-options")
    with silence_logging_cmgr(SHOWN):
        try:
            with any_port():
                cluster: Any = _Cluster(**arguments, scheduler_options=scheduler, silence_logs=False)
        except RuntimeError as problem:
            raise InputError(f"--slurm: {problem}") from None
        with connected(cluster) as client:
            for _ in range(jobs):
                cluster.worker_spec.update(cluster.new_worker_spec())
            try:
                cluster.sync(lambda: cluster)  # waits until all are submitted
            except (OSError, RuntimeError, ValueError) as problem:
                said = str(problem).partition("stderr:")[2] or problem
                raise InputError(f"--slurm: sbatch refused the job: {said}") from None
            cluster.adapt(Adaptive=_Refilling, minimum_jobs=jobs, maximum_jobs=jobs, interval=f"{CHECKED_EVERY} s")
            yield client


def check() -> None:
    """Raise InputError where this machine submits no jobs."""
    if shutil.which("sbatch") is None:
        raise InputError("--slurm: no sbatch on PATH: this machine submits no jobs to SLURM")


def script(arguments: Mapping[str, Any]) -> str:
    """Return what `running` would submit for a job. Raises InputError for bad arguments; nothing is submitted."""
    try:
        return str(SLURMJob(NO_SCHEDULER, name="dummy-name", **arguments).job_script())
    except (TypeError, ValueError) as problem:
        raise InputError(f"--slurm-option: {problem}; {_TAKEN}") from None


def arguments(options: Mapping[str, object]) -> dict[str, Any]:
    """Return SLURMCluster's arguments: one worker of one thread, for one stage, whose processes fill the cores.

    `options`, as values or text, are those of its arguments that `_TAKEN` names, and `gpus`, a job's number of GPUs.
    What is not among them comes from the user's jobqueue.yaml. Raises InputError.
    """
    if unknown := sorted(options.keys() - {*_TEXTS, *_LISTS, *_COUNTS}):
        raise InputError(f"--slurm-option: {unknown[0]} is unknown; {_TAKEN}")
    given = {name: _value(name, value) for name, value in options.items()}
    configured = dask.config.get("jobqueue.slurm")  # over the defaults of dask-jobqueue
    cores = given.pop("cores", configured["job-cpu"] or configured["cores"])
    if not cores or not (given.get("memory") or configured["memory"]):
        raise InputError(f"--slurm-option: a job's cores and memory are needed, such as cores=8 memory=16GB; {_TAKEN}")
    count = given.pop("gpus", 0)
    ours = {"cores": 1, "job_cpu": cores, "processes": 1, "python": sys.executable}
    ours["log_directory"] = configured["log-directory"] or str(own_folder() / "slurm")
    found = ours | given
    if count:
        for name, added in (
            ("job_extra_directives", [f"--gres=gpu:{count}"]),
            ("worker_extra_args", ["--resources", f"GPU={count}"]),
        ):
            found[name] = [*given.get(name, configured[name.replace("_", "-")]), *added]
    return found


def _value(name: str, value: Any) -> Any:
    if name in _LISTS:
        return value if isinstance(value, list) else [str(value)]
    if name in _TEXTS:
        return str(value)
    if not str(value).isdecimal():
        raise InputError(f"--slurm-option: {name}={value}: it takes a whole number")
    return int(value)
