"""The driver: begins stages when what they wait for is settled and a worker is free, and records what has ended.

It alone talks to DVC; the workers run commands. One thread does everything: what workers say comes to it through a
queue, and Ctrl-C sets an event, so that no call to DVC is ever cut off in the middle.
"""

import queue
import sys
import time
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, TextIO

from dvc_parallel import command as commands
from dvc_parallel.command import Command, Ended
from dvc_parallel.exceptions import BusyError, StageError, one_line
from dvc_parallel.graph import Pipeline

# How often the driver looks for workers that came or went, and for Ctrl-C.
SECONDS_BETWEEN_LOOKS = 1.0
# Ends of a stage after which those that wait for it do not run.
LOST = {"failed", "skipped"}


@dataclass(frozen=True)
class Room:
    """The workers' resources, busy or not: stages at once, cores, cores of the largest worker, GPUs.

    Whether there were `ever` GPUs: a stage that wants one waits while the worker that has it starts again.
    """

    stages: int
    cores: int
    largest: int
    gpus: int
    ever: bool


class Pool:
    """Workers of a Dask client, each of which runs a stage a thread.

    A thread is one core, or `cores_per_thread`; where all workers share one machine, that has `machine_cores` in all.
    `messages` receives what the workers log (`command.on_worker`), and ("ended", stage, Ended or an exception).
    """

    def __init__(self, client: Any, *, machine_cores: int | None = None, cores_per_thread: int = 1) -> None:
        self.messages: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self.client = client
        self._machine_cores, self._cores_per_thread = machine_cores, cores_per_thread
        self._topic = f"repro-{uuid.uuid4().hex}"
        self._futures = set[Any]()
        self._ever_gpus = False
        client.subscribe_topic(self._topic, lambda event: self.messages.put(event[1]))

    def room(self) -> Room:
        """Return what all workers have, those that are busy included."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        threads = [worker["nthreads"] for worker in workers]
        gpus = sum(int(worker["resources"].get("GPU", 0)) for worker in workers)
        self._ever_gpus = self._ever_gpus or gpus > 0
        cores = self._machine_cores or sum(threads) * self._cores_per_thread
        largest = self._machine_cores or max(threads, default=0) * self._cores_per_thread
        return Room(sum(threads), cores, largest, gpus, self._ever_gpus)

    def submit(self, command: Command, cores: int) -> None:
        """Run a command, elsewhere if its worker dies; `messages` receives its end, or why no worker could run it."""
        key = f"{command.stage}-{uuid.uuid4().hex}"
        resources = {"GPU": 1} if command.gpu and self._ever_gpus else None
        task = (commands.on_worker, command, cores, self._topic)
        future = self.client.submit(*task, key=key, pure=False, resources=resources)
        self._futures.add(future)
        future.add_done_callback(lambda future: self._ended(command.stage, future))

    def _ended(self, stage: str, future: Any) -> None:
        """Fetch a result, and let Dask forget it: a command whose result is lost with its worker would run again."""
        try:
            result = future.result()
        except (Exception, CancelledError) as problem:
            result = problem
        self._futures.discard(future)
        future.release()
        self.messages.put(("ended", stage, result))

    def cancel(self) -> None:
        """End what runs, on whichever worker, and wait until it has ended. The workers live on."""
        if not self._futures:
            return
        end = time.monotonic() + 2 * commands.SECONDS_TO_END
        with suppress(OSError):  # a scheduler that is gone; a worker that is gone is left out
            self.client.cancel(list(self._futures))
            while time.monotonic() < end:
                running = self.client.run(commands.running, self._topic, on_error="ignore")
                if not any(running.values()):
                    return
                time.sleep(0.1)


class Driver:
    """Runs the stages of a pipeline, once: the targets with what they depend on, or `downstream` what depends on them.

    `start` makes the pool of workers, when the first command is to be run. `fates` has the end of each stage, by name:
    what `Pipeline.begin` returned, "ran" or "failed", and "skipped" where a stage before it failed.
    """

    def __init__(self, pipeline: Pipeline, targets: Sequence[str], downstream: bool, start: Callable[[], Pool]) -> None:
        self._pipeline, self._start = pipeline, start
        self._inputs = pipeline.plan(targets, downstream)
        self._commands = {name: pipeline.command(name) for name in self._inputs}
        self._pool: Pool | None = None
        self._longest_first = longest_first(self._inputs)
        self._running: dict[str, int] = {}  # the cores of each
        self._workers: dict[str, str] = {}
        self._unrecorded = list(self._inputs)
        self._said_waiting = False
        self._busy: set[str] = set()  # found so since the last wait
        self._said_busy: set[str] = set()
        self.fates: dict[str, str] = {}

    def run(self, force: bool, keep_going: bool) -> None:
        """Run what has changed, until all is done, or something failed and what ran then has ended.

        Raises KeyboardInterrupt when interrupted. Whatever is raised, no command runs on, and what has ended is
        recorded.
        """
        with self._pipeline.repo.scm_context(), ExitStack() as last:
            last.callback(self._pipeline.close)
            last.callback(self._cancel)
            last.callback(self._record_all)
            while self._begin(force, keep_going):
                self._listen(SECONDS_BETWEEN_LOOKS)
                self._busy.clear()

    def _cancel(self) -> None:
        if self._pool is not None:
            self._pool.cancel()

    def _record_all(self) -> None:
        """Record what has ended well, also behind stages that have not, and what nobody has listened to yet."""
        while self._pool is not None and not self._pool.messages.empty():
            kind, stage, what = self._pool.messages.get()
            if kind == "ended" and isinstance(what, Ended) and not what.code:
                self._end(stage, what)
        while self._unrecorded:
            self._record(self._unrecorded.pop(0))

    def _begin(self, force: bool, keep_going: bool) -> bool:
        """Begin all that there is room for; return whether there is anything to wait for."""
        while keep_going or "failed" not in self.fates.values():
            if (name := self._next()) is None:
                return bool(self._running or self._ready())
            self._begin_stage(name, force)
            self._listen(0)
        return bool(self._running)

    def _ready(self) -> list[str]:
        """Return the stages that may begin: those whose inputs have all ended well."""
        well = {name for name, fate in self.fates.items() if fate not in LOST}
        waiting = [name for name in self._longest_first if name not in self.fates and name not in self._running]
        return [name for name in waiting if well.issuperset(self._inputs[name])]

    def _next(self) -> str | None:
        """Return the first stage that may begin and has room; before there are workers, the first that may begin."""
        ready = [name for name in self._ready() if name not in self._busy]
        if self._pool is None:
            return ready[0] if ready else None
        room = self._pool.room()
        free_gpus = room.gpus - sum(self._commands[name].gpu for name in self._running)
        if len(self._running) < room.stages and sum(self._running.values()) < room.cores:
            for name in ready:
                if free_gpus > 0 or not (room.ever and self._commands[name].gpu):
                    return name
        if not room.stages or (ready and not self._running):
            self._say_waiting(" with a GPU" if room.stages else "")
        return None

    def _say_waiting(self, what: str) -> None:
        if not self._said_waiting:
            _say(f"waiting for a worker{what}")
        self._said_waiting = True

    def _begin_stage(self, name: str, force: bool) -> None:
        try:
            begun = self._pipeline.begin(name, force)
        except BusyError as problem:
            self._busy.add(name)
            if name not in self._said_busy:
                _say(f"'{name}' waits for another DVC: {problem}", sys.stderr)
            self._said_busy.add(name)
            return
        except StageError as problem:
            self._fail(name, str(problem))
            return
        if begun == "to run":
            self._submit(name)
            return
        if begun == "unchanged" and self._commands[name].lines:  # DVC itself says so of the others
            _say(f"Stage '{name}' didn't change, skipping")
        self._settle(name, begun)

    def _submit(self, name: str) -> None:
        """Run a command once there are workers, whose cores are known then."""
        if self._pool is None:
            self._pool = self._start()
        while not (room := self._pool.room()).stages:
            self._say_waiting("")
            self._listen(SECONDS_BETWEEN_LOOKS)
        command = self._commands[name]
        cores = self._running[name] = self._share(command, room)
        _say(f"Running stage '{name}':")
        for line in command.lines:
            _say(f"> {line}")
        self._pool.submit(command, cores)

    def _share(self, command: Command, room: Room) -> int:
        """Return as many of the free cores as a stage can use; of a GPU's stage no more than that GPU's part of all."""
        free = room.cores - sum(self._running.values())
        most = room.cores // room.gpus if command.gpu and room.gpus else room.largest
        return max(1, min(command.processes, most, free))

    def _listen(self, seconds: float) -> None:
        """Take in what has been said since, or wait so long for it."""
        while True:
            if self._pipeline.interrupted.is_set():
                raise KeyboardInterrupt
            if self._pool is None:
                self._pipeline.interrupted.wait(seconds)
                return
            try:
                kind, stage, what = self._pool.messages.get(timeout=seconds)
            except queue.Empty:
                return
            seconds = 0
            if kind == "line":
                _say(f"{stage}| {what}")
            elif kind == "ended":
                self._end(stage, what)
            else:  # "began", at a worker
                if stage in self._workers:
                    _say(f"{stage}: its worker {self._workers[stage]} is gone; it goes on at {what}", sys.stderr)
                self._workers[stage] = what

    def _end(self, name: str, ended: Ended | BaseException) -> None:
        del self._running[name]
        try:
            if isinstance(ended, BaseException):
                raise StageError(f"no worker could run it: {one_line(str(ended)) or type(ended).__name__}")
            if ended.code:
                raise StageError(f"failed to run: {ended.failed}, exited with {ended.code}")
            self._pipeline.finish(name)
        except StageError as problem:
            self._pipeline.release(name)
            self._fail(name, str(problem))
            return
        self._settle(name, "ran")
        done = sum(fate not in LOST for fate in self.fates.values())
        _say(f"Stage '{name}' took {ended.seconds:.1f} s; {done} of {len(self._commands)} stages done")

    def _settle(self, name: str, fate: str) -> None:
        """Note the end of a stage, and record in DVC's order: as a serial run that gets as far would leave dvc.lock."""
        self.fates[name] = fate
        while self._unrecorded and self._unrecorded[0] in self.fates:
            self._record(self._unrecorded.pop(0))

    def _record(self, name: str) -> None:
        if self.fates.get(name, "unchanged") not in LOST | {"unchanged"}:
            self._pipeline.record(name)

    def _fail(self, name: str, why: str) -> None:
        _say(f"ERROR: failed to reproduce '{name}': {why}", sys.stderr)
        self.fates[name] = "failed"
        skipped = []
        for after, inputs in self._inputs.items():
            if after not in self.fates and any(self.fates.get(before) in LOST for before in inputs):
                self.fates[after] = "skipped"
                skipped.append(f"'{after}'")
        if skipped:
            _say(f"WARNING: {', '.join(skipped)} will be skipped due to this failure", sys.stderr)
        self._settle(name, "failed")


def longest_first(inputs: dict[str, list[str]]) -> list[str]:
    """Return the stages, those with the longest chain of others after them first; equal ones in DVC's order."""
    after = dict.fromkeys(inputs, 0)
    for name in reversed(inputs):  # a stage comes after its inputs
        for before in inputs[name]:
            after[before] = max(after[before], after[name] + 1)
    return sorted(inputs, key=lambda name: -after[name])


def _say(text: str, file: TextIO | None = None) -> None:
    print(text, file=file, flush=True)
