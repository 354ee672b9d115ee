"""Independent pieces of work over the cores: single-threaded each, in a process each.

A piece computes the same bits whichever process runs it and however many there are.
"""

import ctypes
import gc
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.queues import SimpleQueue
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import torch

from vanishing_variance.harness import edits, machine
from vanishing_variance.harness.by_value import dumps
from vanishing_variance.harness.caller import as_before
from vanishing_variance.harness.errors import DivergedError, InputError, one_line, shown
from vanishing_variance.harness.memory import REMEDY, ran_out
from vanishing_variance.harness.parent import end_with

SECONDS_BETWEEN_REPORTS = 0.2

Report = Callable[[int], None]
Job = Callable[[Report], Any]

# In a process of `run`: where its jobs report to.
_reports: "SimpleQueue[int] | None" = None


def job(function: Callable[..., Any], *arguments: Any) -> Job:
    """Return the call of a function with copies of these arguments, and what it reports to, as a job of `run`.

    Each job has copies of its own, with their code, also where it runs in this process. Raises InputError where they
    cannot be copied.
    """
    return partial(_call_copied, dumps((function, arguments), "sending what was given to another process"))


def _call_copied(pickled: bytes, report: Report) -> Any:
    function, arguments = cloudpickle.loads(pickled)
    return function(*arguments, report)


def run(jobs: Sequence[Job], progress: Report, *, small: bool = False) -> list[Any]:
    """Return every job's result, in order; `progress` is called with the work that the jobs report.

    A job is called with a function that it may report finished work to; job and result can be pickled (see `job`). The
    first exception of a job is raised at once, and the others end. `small`: all together take less time than a process
    to start. Raises InputError where memory runs out.
    """
    processes = 1 if small else min(len(jobs), cores())
    try:
        return _run_here(jobs, progress) if processes == 1 else _run_in_others(processes, jobs, progress)
    except (DivergedError, InputError) as problem:
        raise problem from None  # without the other process's traceback
    except BrokenProcessPool:
        raise InputError(f"one of its processes was killed, as where memory runs out; {REMEDY}") from None
    except (MemoryError, OSError, RuntimeError) as problem:
        if not ran_out(problem):
            raise
        raise InputError(f"memory ran out; {REMEDY}") from None


def cores() -> int:
    """Return the number of cores that this process may use; 1 where a GPU does the work, or it may start no others.

    At most PYTHON_CPU_COUNT, Python's own variable: `dvc-parallel repro` sets it, which divides a machine's cores
    between the stages that run at once. Raises InputError where it is neither a number nor `default`, as Python stops.
    """
    if torch.cuda.is_available() or multiprocessing.current_process().daemon:
        return 1
    allowed = machine.cores()
    most = os.environ.get("PYTHON_CPU_COUNT") or "default"
    if most == "default":
        return allowed
    if not re.fullmatch("0*[1-9][0-9]{0,8}", most):
        raise InputError(f"PYTHON_CPU_COUNT is {shown(most)}; must be a whole number from 1 on, or default")
    return min(allowed, int(most))


def single_threaded() -> None:
    """Let this process compute on one thread, and keep the memory that it frees and the modules that it has loaded."""
    torch.set_num_threads(1)
    gc.freeze()  # else Python looks through all modules for garbage again and again: 2% of a training step
    # glibc gives large freed tensors back to the kernel, and faults them in again at the next operation: a fifth of a
    # training step. Keep them.
    _keep_freed_memory(2**31 - 1)


def _keep_freed_memory(most: int) -> None:
    """Let glibc, where it is the C library, keep up to so many free bytes at the end of its heap."""
    library = ctypes.CDLL(None)
    if sys.platform == "linux" and hasattr(library, "mallopt"):
        library.mallopt(-3, 2**25)  # M_MMAP_THRESHOLD at its largest: what is larger is not of the heap
        library.mallopt(-1, most)  # M_TRIM_THRESHOLD


def _run_here(jobs: Sequence[Job], progress: Report) -> list[Any]:
    is_frozen = gc.get_freeze_count() > 0
    single_threaded()
    try:
        return [_settled(job, progress) for job in jobs]
    finally:  # a notebook goes on; glibc as it is after any large array
        gc.unfreeze()
        if is_frozen:
            gc.freeze()
        _keep_freed_memory(2**26)


def _run_in_others(processes: int, jobs: Sequence[Job], progress: Report) -> list[Any]:
    context = multiprocessing.get_context("spawn")
    try:
        reports: SimpleQueue[int] = context.SimpleQueue()
    except (ImportError, OSError) as problem:  # Linux has semaphores in /dev/shm
        why = f"processes cannot be started at once: no semaphores ({problem})"
        raise InputError(f"{why}; make /dev/shm writable, or set PYTHON_CPU_COUNT=1") from None
    with ProcessPoolExecutor(processes, context, _start, (reports, os.getpid())) as pool:
        try:
            with _starting():
                futures = [pool.submit(_call, job) for job in jobs]
            _wait(futures, reports, progress)
            done = [future.result() for future in futures]
            edits.LOADED_BY_OTHERS.update(*(sources for _, sources in done))
            return [result for result, _ in done]
        except BaseException:
            for child in list(pool._processes.values()):
                child.kill()
            raise
        finally:
            reports.close()


@contextmanager
def _starting() -> Iterator[None]:
    """Let processes that start now not import this one's script, which may be standard input, and never see Ctrl-C.

    A terminal sends it to all: this process ends them.
    """
    script = sys.modules["__main__"]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(futures: Sequence[Future[Any]], reports: "SimpleQueue[int]", progress: Report) -> None:
    """Pass on what the jobs report, until all end. Raises the first exception of one."""
    pending = set(futures)
    while pending:
        finished, pending = wait(pending, SECONDS_BETWEEN_REPORTS, FIRST_EXCEPTION)
        while not reports.empty():
            progress(reports.get())
        for future in finished:
            future.result()


def _start(reports: "SimpleQueue[int]", parent: int) -> None:
    global _reports  # noqa: PLW0603 -- a queue reaches a spawned process only through its initialiser
    _reports = reports
    end_with(parent)
    single_threaded()


def _call(job: Job) -> tuple[Any, set[Path]]:
    assert _reports is not None
    try:
        return _settled(job, _reports.put), edits.loaded_sources()
    except Exception as problem:
        raise _sendable(problem) from problem


def _settled(job: Job, report: Report) -> Any:
    with as_before():
        return job(report)


def _sendable(problem: Exception) -> Exception:
    """Return an error that another process can read."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(problem))
    except Exception:  # of any kind: of its class's own code
        return RuntimeError(one_line(f"{type(problem).__name__}: {problem}"))
    return problem
