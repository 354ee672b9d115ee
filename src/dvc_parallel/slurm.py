"""Jobs of SLURM that stages run on, one worker each, by dask-jobqueue."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dvc_parallel.clusters import ALLOWED_FAILURES, SHOWN, any_port, connected, dask
from dvc_parallel.errors import InputError
from dvc_parallel.files import own_folder

if TYPE_CHECKING:
    from distributed import Client

CHECKED_EVERY = 10  # seconds; SLURM is not asked for a refused job again more often than this
NO_SCHEDULER = "tcp://<insert-scheduler-address-here>:8786"

_TEXTS = ("account", "interface", "local_directory", "log_directory", "memory", "queue", "walltime")
_LISTS = ("job_directives_skip", "job_extra_directives", "job_script_prologue", "worker_extra_args")
_COUNTS = ("cores", "gpus")
OPTIONS = tuple(sorted(_TEXTS + _LISTS + _COUNTS))
_TAKEN = f"it takes {', '.join(OPTIONS)}"


@contextmanager
def running(jobs: int, options: Mapping[str, object]) -> Iterator["Client"]:
    """Submit so many jobs of SLURM, one worker each, which end with this; a job that ends before is submitted again.

    `options` are those of dask-jobqueue's SLURMCluster that OPTIONS names, as values or text, and `gpus`, a job's
    number of GPUs; what is not among them comes from the user's jobqueue.yaml. A job runs in the folder of this
    process, with its Python: both are on a file system that the jobs share. Raises InputError for options, and when
    SLURM refuses the first jobs.

    A job that ends while it waits in SLURM's queue is not noticed: Dask sees its worker come and go, not the queue.
    """
    arguments = _arguments(options)
    distributed, jobqueue = dask("distributed"), dask("dask_jobqueue")
    own = dask("dvc_parallel.jobs")
    _job(arguments)
    check()

    scheduler = {"allowed_failures": ALLOWED_FAILURES} | _configured()["scheduler-options"]
    with distributed.utils.silence_logging_cmgr(SHOWN):
        try:
            with any_port():
                cluster = jobqueue.SLURMCluster(
                    **arguments, job_cls=own.Job, scheduler_options=scheduler, silence_logs=False
                )
        except RuntimeError as problem:
            raise InputError(f"--slurm: {problem}") from None
        with connected(cluster) as client:
            for _ in range(jobs):
                cluster.worker_spec.update(cluster.new_worker_spec())
            try:
                cluster.sync(_settled, cluster)
            except (OSError, RuntimeError, ValueError) as problem:
                said = str(problem).partition("stderr:")[2] or problem
                raise InputError(f"--slurm: sbatch refused the job: {said}") from None
            cluster.adapt(Adaptive=own.Refilling, minimum_jobs=jobs, maximum_jobs=jobs, interval=f"{CHECKED_EVERY} s")
            yield client


def check() -> None:
    """Raise InputError where this machine submits no jobs."""
    if shutil.which("sbatch") is None:
        raise InputError("--slurm: no sbatch on PATH: this machine submits no jobs to SLURM")


def script(options: Mapping[str, object]) -> str:
    """Return what `running` would submit for a job. Raises InputError as it does; nothing is submitted or started."""
    return str(_job(_arguments(options)).job_script())


def job_cores(options: Mapping[str, object]) -> int:
    """Return how many cores a job has. Raises InputError as `running` does."""
    return int(_arguments(options)["job_cpu"])


def _arguments(options: Mapping[str, object]) -> dict[str, Any]:
    """Return SLURMCluster's arguments: one worker of one thread, for one stage, whose processes fill the cores."""
    if unknown := sorted(set(options) - set(OPTIONS)):
        raise InputError(f"--slurm-option: {unknown[0]} is unknown; {_TAKEN}")
    given = {name: _value(name, value) for name, value in options.items()}
    configured = _configured()
    cores = given.pop("cores", configured["job-cpu"] or configured["cores"])
    if not cores or not (given.get("memory") or configured["memory"]):
        raise InputError(f"--slurm-option: a job's cores and memory are needed, such as cores=8 memory=16GB; {_TAKEN}")
    count = given.pop("gpus", 0)
    ours = {"cores": 1, "job_cpu": cores, "processes": 1, "python": sys.executable}
    ours["log_directory"] = configured["log-directory"] or str(own_folder() / "slurm")
    arguments = ours | given
    if count:
        for name, added in (
            ("job_extra_directives", [f"--gres=gpu:{count}"]),
            ("worker_extra_args", ["--resources", f"GPU={count}"]),
        ):
            arguments[name] = [*given.get(name, configured[name.replace("_", "-")]), *added]
    return arguments


def _value(name: str, value: Any) -> Any:
    if name in _LISTS:
        return value if isinstance(value, list) else [str(value)]
    if name in _TEXTS:
        return str(value)
    if not str(value).isdecimal():
        raise InputError(f"--slurm-option: {name}={value}: it takes a whole number")
    return int(value)


def _configured() -> dict[str, Any]:
    """Return the user's jobqueue.yaml over the defaults of dask-jobqueue."""
    dask("dask_jobqueue")
    return dict(dask("dask").config.get("jobqueue.slurm"))


def _job(arguments: dict[str, Any]) -> Any:
    """Return a job that is not submitted."""
    try:
        return dask("dask_jobqueue.slurm").SLURMJob(NO_SCHEDULER, name="dummy-name", **arguments)
    except (TypeError, ValueError) as problem:
        raise InputError(f"--slurm-option: {problem}; {_TAKEN}") from None


async def _settled(cluster: Any) -> None:
    await cluster
