"""The machines that stages run on: processes of this one, a Dask scheduler that is there already, or SLURM's jobs.

Each function gives a connected `distributed.Client`. A worker runs one stage at a time, which divides the cores between
its own processes; a worker with the Dask resource GPU has that many GPUs to itself.
"""

import asyncio
import importlib
import importlib.util
import logging
import os
import shutil
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from vanishing_variance.errors import InputError
from vanishing_variance.paths import RUNS

if TYPE_CHECKING:
    from distributed import Client

# How many workers a stage may lose before it is given up. Each end of a job's walltime is one, and the stage goes on
# from its checkpoint: with 20, ten hours of dask-jobqueue's default, half an hour. Not endless, for a stage that kills
# its machine each time.
ALLOWED_FAILURES = 20
REACHED_WITHIN = 10  # seconds
CHECKED_EVERY = 10  # seconds; SLURM is not asked for a refused job again more often than this
LOGS = RUNS / "slurm"
NO_SCHEDULER = "tcp://<insert-scheduler-address-here>:8786"

# Below an error Dask tells of workers that it restarts, and of work that it cancels: what it is for, and what is asked.
SHOWN = logging.ERROR

_TEXTS = ("account", "interface", "local_directory", "log_directory", "memory", "queue", "walltime")
_LISTS = ("job_directives_skip", "job_extra_directives", "job_script_prologue", "worker_extra_args")
_COUNTS = ("cores", "gpus")
OPTIONS = tuple(sorted(_TEXTS + _LISTS + _COUNTS))
_TAKEN = f"it takes {', '.join(OPTIONS)}"


@contextmanager
def local(workers: int) -> Iterator["Client"]:
    """So many worker processes of this machine, which end with it; nothing outside this machine reaches them.

    Each of the first workers has one GPU to itself, while there are GPUs; the others see none. Workers, and what they
    start, never see Ctrl-C: a terminal sends it to all processes, and this one ends the others.
    """
    distributed = _dask("distributed")
    devices = gpus()
    common = {"nthreads": 1, "memory_limit": 0, "host": "127.0.0.1", "dashboard": False, "silence_logs": SHOWN}
    # what a worker takes for an error when it ends, a scheduler that has ended before it, is none
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    specification = {
        worker: {"cls": distributed.Nanny, "options": common | _devices(devices, worker) if devices else common}
        for worker in range(workers)
    }
    listening = {"host": "127.0.0.1", "dashboard": True, "dashboard_address": _dashboard("127.0.0.1")}
    scheduler = {"cls": distributed.Scheduler, "options": listening | {"allowed_failures": ALLOWED_FAILURES}}
    with distributed.utils.silence_logging_cmgr(SHOWN):
        with _uninterrupted():
            cluster = distributed.SpecCluster(workers=specification, scheduler=scheduler)
        with _connected(cluster) as client:
            yield client


def check(scheduler: str | None, slurm: bool) -> None:
    """See, before anything is touched, whether there are Dask, the scheduler at that address, and SLURM.

    Raises InputError where not.
    """
    if importlib.util.find_spec("distributed") is None:
        _dask("distributed")
    if scheduler is not None:
        with _dask("distributed").utils.silence_logging_cmgr(SHOWN), _answering(scheduler):
            asyncio.run(_identified(scheduler))
    if slurm:
        _submits()


@contextmanager
def existing(address: str) -> Iterator["Client"]:
    """The workers of the scheduler at an address, such as tcp://host:8786, which stay when this ends.

    Raises InputError when no scheduler answers there.
    """
    distributed = _dask("distributed")
    with distributed.utils.silence_logging_cmgr(SHOWN):
        with _answering(address):
            asyncio.run(_identified(address))
            client = distributed.Client(address, timeout=REACHED_WITHIN)
        with client:
            yield client


@contextmanager
def slurm(jobs: int, options: Mapping[str, object]) -> Iterator["Client"]:
    """So many jobs of SLURM, one worker each, which end with this; a job that ends before is submitted again.

    `options` are those of dask-jobqueue's SLURMCluster that OPTIONS names, as values or text, and `gpus`, a job's
    number of GPUs; what is not among them comes from the user's jobqueue.yaml. A job runs in the folder of this
    process, with its Python: both are on a file system that the jobs share. Raises InputError for options, and when
    SLURM refuses the first jobs.

    A job that ends while it waits in SLURM's queue is not noticed: Dask sees its worker come and go, not the queue.
    """
    arguments = _arguments(options)
    distributed, jobqueue = _dask("distributed"), _dask("dask_jobqueue")
    kept = _dask("vanishing_variance.repro.jobs")
    _job(arguments)
    _submits()

    ours = {"allowed_failures": ALLOWED_FAILURES, "dashboard_address": _dashboard("")}
    scheduler = ours | _configured()["scheduler-options"]
    with distributed.utils.silence_logging_cmgr(SHOWN):
        try:
            cluster = jobqueue.SLURMCluster(
                **arguments, job_cls=kept.Job, scheduler_options=scheduler, silence_logs=False
            )
        except RuntimeError as problem:
            raise InputError(f"--slurm: {problem}") from None
        with _connected(cluster) as client:
            for _ in range(jobs):
                cluster.worker_spec.update(cluster.new_worker_spec())
            try:
                cluster.sync(_settled, cluster)
            except (OSError, RuntimeError, ValueError) as problem:
                said = str(problem).partition("stderr:")[2] or problem
                raise InputError(f"--slurm: sbatch refused the job: {said}") from None
            cluster.adapt(Adaptive=kept.Refilling, minimum_jobs=jobs, maximum_jobs=jobs, interval=f"{CHECKED_EVERY} s")
            yield client


def job_script(options: Mapping[str, object]) -> str:
    """What `slurm` would submit for a job. Raises InputError as it does; nothing is submitted or started."""
    return str(_job(_arguments(options)).job_script())


def job_cores(options: Mapping[str, object]) -> int:
    """How many cores a job has. Raises InputError as `slurm` does."""
    return int(_arguments(options)["job_cpu"])


def gpus() -> list[str]:
    """The names of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES has them."""
    if shutil.which("nvidia-smi") is None:  # torch takes seconds to import
        return []
    import torch  # noqa: PLC0415

    count = torch.cuda.device_count()
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return [str(number) for number in range(count)] if named is None else named.split(",")[:count]


def _devices(devices: list[str], worker: int) -> dict[str, Any]:
    if worker >= len(devices):
        return {"env": {"CUDA_VISIBLE_DEVICES": ""}}
    return {"env": {"CUDA_VISIBLE_DEVICES": devices[worker]}, "resources": {"GPU": 1}}


def _arguments(options: Mapping[str, object]) -> dict[str, Any]:
    """What SLURMCluster takes. A worker of one thread in all the job's cores: a stage fills them with its processes."""
    if unknown := sorted(set(options) - set(OPTIONS)):
        raise InputError(f"--slurm-option: {unknown[0]} is unknown; {_TAKEN}")
    given = {name: _value(name, value) for name, value in options.items()}
    configured = _configured()
    cores = given.pop("cores", configured["job-cpu"] or configured["cores"])
    if not cores or not (given.get("memory") or configured["memory"]):
        raise InputError(f"--slurm-option: a job's cores and memory are needed, such as cores=8 memory=16GB; {_TAKEN}")
    count = given.pop("gpus", 0)
    ours = {"cores": 1, "job_cpu": cores, "processes": 1, "python": sys.executable}
    ours["log_directory"] = configured["log-directory"] or str(LOGS)
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
    """The user's jobqueue.yaml, and the defaults that come with dask-jobqueue."""
    _dask("dask_jobqueue")
    return dict(_dask("dask").config.get("jobqueue.slurm"))


def _job(arguments: dict[str, Any]) -> Any:
    """A job that is not submitted."""
    try:
        return _dask("dask_jobqueue.slurm").SLURMJob(NO_SCHEDULER, name="dummy-name", **arguments)
    except (TypeError, ValueError) as problem:
        raise InputError(f"--slurm-option: {problem}; {_TAKEN}") from None


@contextmanager
def _answering(address: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as problem:
        said = f"no Dask scheduler answers there within {REACHED_WITHIN} seconds"
        allowed = f"it takes an address such as tcp://host:8786 ({problem or type(problem).__name__})"
        raise InputError(f"--scheduler: {address or 'nothing'}: {said}; {allowed}") from None


def _submits() -> None:
    if shutil.which("sbatch") is None:
        raise InputError("--slurm: no sbatch on PATH: this machine submits no jobs to SLURM")


async def _identified(address: str) -> None:
    """Raises where a client of Dask's would wait for ever: it lets what it took for a scheduler take its time."""
    async with asyncio.timeout(REACHED_WITHIN), _dask("distributed").rpc(address) as there:
        kind = (await there.identity())["type"]
    if kind != "Scheduler":
        raise ValueError(f"a {kind} answers")


@contextmanager
def _connected(cluster: Any) -> Iterator["Client"]:
    """A client, and at the end the end of both; what Dask and asyncio say of work that they cut off is no error."""
    distributed = _dask("distributed")
    with ExitStack() as ending:
        ending.enter_context(cluster)
        client = ending.enter_context(distributed.Client(cluster))
        try:
            yield client
        finally:
            before = logging.root.manager.disable
            logging.disable(logging.ERROR)
            try:
                ending.close()
            finally:
                logging.disable(before)


async def _settled(cluster: Any) -> None:
    await cluster


def _dask(module: str) -> Any:
    """A module of Dask, which is an extra."""
    try:
        return importlib.import_module(module)
    except ImportError:
        command = "pip install --constraint constraints.txt --editable '.[parallel]'"
        raise InputError(f"vanishing-variance repro needs Dask: {command}") from None


def _dashboard(host: str) -> str:
    """Where the dashboard goes: Dask's usual port, or another when that is taken, of which Dask would warn."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, 8787))
        except OSError:
            return f"{host}:0"
    return f"{host}:8787"


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Threads that are started within never see Ctrl-C, nor does any process that they start."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which lets the thread that starts it see Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
