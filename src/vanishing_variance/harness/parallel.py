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
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from multiprocessing.queues import Queue
from typing import Any

import torch

from vanishing_variance.harness.errors import InputError, shown

Report = Callable[[int], None]
Job = Callable[[Report], Any]

# In a process of `run`: where its jobs report to.
_reports: "Queue[int | None] | None" = None


def run(jobs: Sequence[Job], progress: Report) -> list[Any]:
    """Return every job's result, in order; `progress` is called with the work that the jobs report.

    A job is called with a function that it may report finished work to; job and result can be pickled (a
    `functools.partial` of a module's function). The first exception of a job is raised at once, and the others end.
    Raises InputError in a process that is importing a script that started it, and would start others without end.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError('train starts processes: put it under if __name__ == "__main__": in a script')
    processes = min(len(jobs), cores())
    if processes == 1:
        return _run_here(jobs, progress)
    context = multiprocessing.get_context("spawn")
    reports: Queue[int | None] = context.Queue()
    listener = threading.Thread(target=_pass_on, args=(reports, progress), daemon=True)
    listener.start()
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(processes, context, initializer=_start, initargs=(reports,)) as pool:
        try:
            # Processes that start now never see Ctrl-C, which a terminal sends to all: this process ends them.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                futures = [pool.submit(_call, job) for job in jobs]
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            finished, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in finished:
                future.result()
            results = [future.result() for future in futures]
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.kill()
            raise
    reports.put(None)
    listener.join()
    return results


def cores() -> int:
    """Return the number of cores that this process may use; 1 where a GPU does the work.

    At most PYTHON_CPU_COUNT, Python's own variable: `dvc-parallel repro` sets it, which divides a machine's cores
    between the stages that run at once. Raises InputError where it is neither a number nor `default`, as Python stops.
    """
    if torch.cuda.is_available():
        return 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
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
    if sys.platform == "linux":
        # glibc gives large freed tensors back to the kernel, and faults them in again at the next operation: a fifth of
        # a training step. Keep them: M_MMAP_THRESHOLD (-3) at its largest, M_TRIM_THRESHOLD (-1), M_TOP_PAD (-2).
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):
            for option, value in ((-3, 2**25), (-1, 2**31 - 1), (-2, 2**28)):
                library.mallopt(option, value)


def _run_here(jobs: Sequence[Job], progress: Report) -> list[Any]:
    threads = torch.get_num_threads()
    single_threaded()
    try:
        return [job(progress) for job in jobs]
    finally:  # a notebook goes on
        torch.set_num_threads(threads)
        gc.unfreeze()


def _pass_on(reports: "Queue[int | None]", progress: Report) -> None:
    for done in iter(reports.get, None):
        progress(done)


def _start(reports: "Queue[int | None]") -> None:
    global _reports  # noqa: PLW0603 -- a queue reaches a spawned process only through its initialiser
    _reports = reports
    threading.Thread(target=_end_with_parent, daemon=True).start()
    single_threaded()


def _end_with_parent() -> None:
    """Exit with the parent process."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _call(job: Job) -> Any:
    assert _reports is not None
    return job(_reports.put)
