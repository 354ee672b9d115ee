"""The command of a stage, as a worker runs it: its output by lines, its time, its end when nobody wants it any more."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dvc_parallel import guard

# How often a worker looks whether a stage is still wanted, and how long a stage has to end by itself when it is not.
SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_TO_END = 5.0
# What the libraries below numpy and torch read; Dask sets them to 1 for its workers.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

# Of this worker: the GPUs that are given to a stage, and the topics of the stages that run.
_given = set[str]()
_topics: list[str] = []
_guard = threading.Lock()


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
    """The end of a command: the line that failed, its exit code (negative: a signal); wall and CPU time in seconds."""

    failed: str | None
    code: int
    seconds: float
    cpu: float


def on_worker(command: Command, cores: int, topic: str) -> Ended:
    """Run a stage's command as a task of Dask, on `cores` cores; under `topic` is logged where it
    begins, ("began", stage, worker, cores), and what it prints, ("line", stage, text).

    It is ended when the task is cancelled, as Dask does when the client that wanted it is gone.
    """
    from distributed import get_worker  # noqa: PLC0415 -- optional

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state not in {"cancelled", "released", "forgotten"}

    def say(line: str) -> None:
        worker.log_event(topic, ("line", command.stage, line))

    worker.log_event(topic, ("began", command.stage, worker.address, cores))
    _topics.append(topic)
    try:
        with _gpu(int(worker.state.total_resources.get("GPU", 0)), wanted=command.gpu) as visible:
            return run(command, cores, visible, say, wanted)
    finally:
        _topics.remove(topic)


def running(topic: str) -> int:
    """Return how many commands this worker runs whose output is logged under `topic`."""
    return _topics.count(topic)


def run(
    command: Command,
    cores: int,
    gpus: Mapping[str, str],
    say: Callable[[str], None],
    wanted: Callable[[], bool] = lambda: True,
) -> Ended:
    """Run a command's lines, one after the other until one fails; `say` gets each line that they print.

    `gpus` is what tells CUDA which it sees. When `wanted` is no longer true, the processes are ended: a failure.
    """
    began, cpu = time.monotonic(), 0.0
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    counts = dict.fromkeys((*THREADS, "PYTHON_CPU_COUNT"), str(cores))
    environment = {**os.environ, **command.environment, "PATH": path, **counts, **gpus}
    shell = environment.get("SHELL") or "/bin/sh"
    plain = {"bash": ["--noprofile", "--norc"], "zsh": ["--no-rcs"]}.get(Path(shell).name, [])
    for line in command.lines:
        code, used = _line([shell, *plain, "-c", line], command.folder, environment, say, wanted)
        cpu += used
        if code:
            return Ended(line, code, time.monotonic() - began, cpu)
    return Ended(None, 0, time.monotonic() - began, cpu)


def _line(
    arguments: list[str],
    folder: str,
    environment: Mapping[str, str],
    say: Callable[[str], None],
    wanted: Callable[[], bool],
) -> tuple[int, float]:
    """Run a line; return its exit code, and the CPU time in seconds of its processes."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", guard.__file__, str(os.getpid()), *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C in a terminal reaches the driver alone; all its processes end as one
    )
    assert process.stdout is not None
    ended = threading.Event()
    watch = threading.Thread(target=_end_unwanted, args=(process.pid, wanted, ended), daemon=True)
    reader = threading.Thread(target=_pass_on, args=(process.stdout, say), daemon=True)
    watch.start()
    reader.start()
    # Not process.wait, which does not tell the CPU time; those of its processes that it waited for are counted.
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    ended.set()
    watch.join()
    reader.join(SECONDS_TO_END)  # a process that it left behind may hold the pipe open
    return process.returncode, used.ru_utime + used.ru_stime


def _end_unwanted(pid: int, wanted: Callable[[], bool], ended: threading.Event) -> None:
    """Terminate a process group when it is not wanted any more, and kill what does not obey."""
    asked: float | None = None
    while not ended.wait(SECONDS_BETWEEN_LOOKS):
        if wanted():
            continue
        asked = asked or time.monotonic()
        obeys = time.monotonic() - asked < SECONDS_TO_END
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGTERM if obeys else signal.SIGKILL)


def _pass_on(stream: IO[bytes], say: Callable[[str], None]) -> None:
    with stream:
        for line in stream:
            say(line.decode(errors="replace").rstrip())


@contextmanager
def _gpu(offered: int, wanted: bool) -> Iterator[dict[str, str]]:
    """Give one of the GPUs that this worker offers, for as long as a stage that wants one runs; other stages see none.

    Where the worker offers none, its stages see what is there.
    """
    if not offered:
        yield {}
        return
    if not wanted:
        yield {"CUDA_VISIBLE_DEVICES": ""}
        return
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    there = seen.split(",") if seen else [str(number) for number in range(offered)]
    with _guard:
        mine = next(gpu for gpu in there if gpu not in _given)  # Dask starts no more such tasks than there are GPUs
        _given.add(mine)
    try:
        yield {"CUDA_VISIBLE_DEVICES": mine}
    finally:
        with _guard:
            _given.remove(mine)
