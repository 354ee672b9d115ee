"""The command of a stage, as a worker runs it: its output line by line, and its end when nobody wants it any more.

Run by its path, this file is the guard between a worker and a stage: see `_guard`. It imports no other package.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# How often it is looked whether a stage is still wanted, and how long a stage has to end by itself when it is not.
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_TO_END = 5.0
# What Python, and the libraries below numpy and torch, read; Dask sets the latter to 1 for its workers.
CORES = ("PYTHON_CPU_COUNT", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
SHELL_OPTIONS = {"bash": ["--noprofile", "--norc"], "zsh": ["--no-rcs"]}
# The topics of the commands that this worker runs.
_topics: list[str] = []


@dataclass(frozen=True)
class Command:
    """A stage's command as DVC would run it: lines of a shell, in a folder, with its own environment; its needs."""

    stage: str
    lines: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]
    processes: int
    gpu: bool


@dataclass(frozen=True)
class Ended:
    """The end of a command: the line that failed, its exit code (128 and more: a signal), wall time in seconds."""

    failed: str | None
    code: int
    seconds: float


def on_worker(command: Command, cores: int, topic: str) -> Ended:
    """Run a stage's command as a task of Dask, on `cores` cores, until it ends or the task is cancelled.

    Dask cancels it, too, when the client that wanted it is gone. Logs under `topic` ("began", stage, worker), and what
    the command prints, ("line", stage, text). Where a worker offers GPUs, a stage that wants none sees none.
    """
    from distributed import get_worker  # noqa: PLC0415 -- the guard has no packages

    worker = get_worker()
    key = worker.get_current_task()

    def say(line: str) -> None:
        worker.log_event(topic, ("line", command.stage, line))

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state not in {"cancelled", "released", "forgotten"}

    worker.log_event(topic, ("began", command.stage, worker.address))
    offers_gpu = "GPU" in worker.state.total_resources
    _topics.append(topic)
    try:
        return run(command, cores, say, wanted, hide_gpus=offers_gpu and not command.gpu)
    finally:
        _topics.remove(topic)


def running(topic: str) -> int:
    """Return how many commands this worker runs whose output is logged under `topic`."""
    return _topics.count(topic)


def run(
    command: Command,
    cores: int,
    say: Callable[[str], None],
    wanted: Callable[[], bool] = lambda: True,
    hide_gpus: bool = False,
) -> Ended:
    """Run a command's lines until one fails; `say` gets each line that they print.

    When `wanted` is no longer true, the processes are ended: a failure.
    """
    environment = {**os.environ, **command.environment, **dict.fromkeys(CORES, str(cores))}
    scripts = Path(sys.executable).parent
    environment["PATH"] = f"{scripts}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    if hide_gpus:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    shell = environment.get("SHELL") or "/bin/sh"
    options = SHELL_OPTIONS.get(Path(shell).name, [])
    began = time.monotonic()
    for line in command.lines:
        if code := _run_line([shell, *options, "-c", line], command.folder, environment, say, wanted):
            return Ended(line, code, time.monotonic() - began)
    return Ended(None, 0, time.monotonic() - began)


def _run_line(
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    say: Callable[[str], None],
    wanted: Callable[[], bool],
) -> int:
    """Run a line; return its exit code."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(os.getpid()), *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C in a terminal reaches the driver alone; all its processes end as one
    )
    reader = threading.Thread(target=_read, args=(process.stdout, say), daemon=True)
    reader.start()
    unwanted = 0.0
    while process.poll() is None:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        if not wanted():
            unwanted += SECONDS_BETWEEN_LOOKS
            with suppress(OSError):  # it may end just now
                os.killpg(process.pid, signal.SIGTERM if unwanted < SECONDS_TO_END else signal.SIGKILL)
    reader.join(SECONDS_TO_END)  # a process that it left behind may hold the pipe open
    code = process.returncode
    return code if code >= 0 else 128 - code  # the guard, which a signal may end, too, as it exits


def _read(stream: IO[bytes], say: Callable[[str], None]) -> None:
    with stream:
        for line in stream:
            say(line.decode(errors="replace").rstrip())


def _guard() -> None:
    """Run a command, and kill it with all its processes when the worker that asked for it has ended, however that ends.

    Started in a session of its own, with the worker's process number and the command. It ends with the command's exit
    code; for a signal with 128 and its number, as shells do.
    """
    worker, command = int(sys.argv[1]), sys.argv[2:]
    # the whole session is terminated at once; the command decides how it ends, and this reports it
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    threading.Thread(target=_end_with, args=(worker,), daemon=True).start()
    code = subprocess.Popen(command).wait()
    sys.exit(code if code >= 0 else 128 - code)


def _end_with(worker: int) -> None:
    while os.getppid() == worker:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    _guard()
