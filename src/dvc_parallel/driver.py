"""The driver: begins stages as soon as there is nothing to wait for and a worker is free, and records what has ended.

It alone talks to DVC; the workers run commands. One thread does everything: what workers and signals say comes to it
through a queue, so that no call to DVC is ever cut off in the middle.
"""

import queue
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dvc_parallel.command import Command, Ended
from dvc_parallel.cores import share
from dvc_parallel.display import Display, fraction
from dvc_parallel.errors import InputError, one_line
from dvc_parallel.estimate import Estimate
from dvc_parallel.order import Order
from dvc_parallel.pipeline import Pipeline, StageError
from dvc_parallel.pool import Pool
from dvc_parallel.remaining import Remaining, about

# Of the time while stages run, at most so much goes into dvc.lock: what is new in it takes a second for 10,000 lines.
RECORDING = 0.1
# How often the driver looks for workers that came or went.
SECONDS_BETWEEN_LOOKS = 1.0


@dataclass
class Outcome:
    """The fate of each stage, by name; how long the commands that ran took (wall and CPU seconds)."""

    ran: dict[str, Ended] = field(default_factory=dict)
    restored: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


class Driver:
    """Runs the stages of a pipeline, once: the targets with what they depend on, or `downstream` what depends on them.

    `start` makes the pool of workers, when the first command is to be run. `messages` is where `Pool` puts what it has
    to say, and the handler of signals ("interrupt",).
    """

    def __init__(
        self,
        pipeline: Pipeline,
        targets: Sequence[str],
        downstream: bool,
        start: Callable[[], Pool],
        display: Display,
        messages: queue.SimpleQueue[tuple[Any, ...]],
    ) -> None:
        plan = pipeline.plan(targets, downstream)
        self._pipeline, self._commands = pipeline, {name: pipeline.command(name) for name in plan}
        self._estimate = Estimate({name: command.lines for name, command in self._commands.items()})
        self._order = Order(plan, dict.fromkeys(plan, 1.0) | self._estimate.seconds)
        self._remaining = Remaining(self._estimate.seconds)
        self._start, self._display, self._messages = start, display, messages
        self._pool: Pool | None = None
        self._waited = False
        self._running: dict[str, Command] = {}
        self._homes: dict[str, str] = {}
        self._looked = set[str]()
        self._last = time.monotonic(), 0.0
        self.outcome = Outcome()

    def run(self, force: bool, keep_going: bool) -> None:
        """Run what has changed, until all is done, or something failed and what ran then has ended.

        Raises KeyboardInterrupt when the queue brings ("interrupt",); whatever is raised, no command runs on.
        """
        try:
            with self._pipeline.tracked():
                while self._begin(force, keep_going):
                    if self._running:
                        self._tell(at_once=False)
                    self._listen(SECONDS_BETWEEN_LOOKS)
                    self._record(at_once=False)
                self._record(at_once=True)
        except (KeyboardInterrupt, InputError):
            self._record(at_once=True)
            raise
        finally:
            if self._pool is not None:
                self._pool.cancel()
            self._display.close()
            self._estimate.note({name: round(ended.seconds, 2) for name, ended in self.outcome.ran.items()})

    def _begin(self, force: bool, keep_going: bool) -> bool:
        """Begin all that there is room for; returns whether there is anything to wait for."""
        while keep_going or not self.outcome.failed:
            name = self._next()
            if name is None and not force and self._settle_unchanged():
                continue
            if name is None:
                return bool(self._running or self._order.ready())
            self._order.begin(name)
            self._begin_one(self._commands[name], force)
            self._listen(0)
        return bool(self._running)

    def _next(self) -> str | None:
        """Return the most urgent stage that may begin and has room; before there are workers, the most urgent one."""
        ready = self._order.ready()
        if self._pool is None:
            return ready[0] if ready else None
        room, found = self._pool.room(), None
        if len(self._running) < room.stages:
            gpus = room.gpus - sum(command.gpu for command in self._running.values())
            fits = (name for name in ready if gpus > 0 or not room.ever or not self._commands[name].gpu)
            found = next(fits, None)
        stuck = ready and not (found or self._running)
        if stuck or not room.stages:
            self._say_waiting(" with a GPU" if room.stages else "")
        return found

    def _say_waiting(self, what: str) -> None:
        if not self._waited:
            self._display.say(f"waiting for a worker{what}")
        self._waited = True

    def _settle_unchanged(self) -> bool:
        """Settle what is ready, waits for room and needs none, so that it does not count among what is left.

        Returns whether there was any. Each is looked at once.
        """
        found = False
        for name in [ready for ready in self._order.ready() if ready not in self._looked]:
            self._looked.add(name)
            with suppress(StageError):  # said when it begins
                if self._pipeline.unchanged(name):
                    self._order.begin(name)
                    self._unchanged(name)
                    found = True
        return found

    def _unchanged(self, name: str) -> None:
        self.outcome.unchanged.append(name)
        if self._commands[name].lines:  # of the others DVC tells by itself
            self._display.say(f"Stage '{name}' didn't change, skipping")
        self._order.settle(name)

    def _begin_one(self, command: Command, force: bool) -> None:
        name = command.stage
        try:
            begun = self._pipeline.begin(name, force)
        except StageError as problem:
            self._fail(name, str(problem))
            return
        if begun == "unchanged":
            self._unchanged(name)
        elif begun == "done":
            self.outcome.restored.append(name)
            self._order.settle(name)
        else:
            self._submit(command)

    def _submit(self, command: Command) -> None:
        """Run a command, once there are workers, whose cores are known then."""
        if self._pool is None:
            self._pool = self._start()
        while not (room := self._pool.room()).stages:
            self._say_waiting("")
            self._listen(SECONDS_BETWEEN_LOOKS)
            self._record(at_once=False)
        name, others = command.stage, [one.processes for one in self._running.values()]
        # those that will run beside it as soon as this call is made
        soon = [self._commands[one].processes for one in self._order.ready()[: max(0, room.stages - len(others) - 1)]]
        cores = min(share(room.cores, [command.processes, *others, *soon])[0], room.largest)
        self._display.say("\n".join([f"Running stage '{name}':", *(f"> {line}" for line in command.lines)]))
        self._running[name] = command
        self._remaining.began(name)
        self._pool.submit(command, cores)

    def _listen(self, seconds: float) -> None:
        """Take in what has been said since, or wait so long for it."""
        try:
            message = self._messages.get(timeout=seconds)
            while True:
                self._hear(message)
                message = self._messages.get_nowait()
        except queue.Empty:
            pass

    def _hear(self, message: tuple[Any, ...]) -> None:
        match message:
            case ("interrupt",):
                raise KeyboardInterrupt
            case ("ended", stage, ended):
                self._end(stage, ended)
            case ("line", stage, text):
                far = fraction(text)
                done = None if far is None else self._estimate.finished(stage, far)
                if done is not None:
                    self._remaining.progressed(stage, done)
                self._display.line(stage, text)
            case ("began", stage, worker, cores):
                lost = self._homes.get(stage)
                self._homes[stage] = worker
                if lost is not None:
                    self._display.warn(f"{stage}: its worker {lost} is gone; it goes on at {worker}")
                self._display.started(stage, worker, cores)

    def _end(self, name: str, ended: Ended | BaseException) -> None:
        del self._running[name]
        self._display.ended(name)
        self._remaining.ended(name, well=isinstance(ended, Ended) and not ended.code)
        try:
            if isinstance(ended, BaseException):
                raise StageError(f"no worker could run it: {one_line(str(ended)) or type(ended).__name__}")
            if ended.code:
                raise StageError(f"failed to run: {ended.failed}, exited with {ended.code}")
            self._pipeline.finish(name)
        except StageError as problem:
            self._fail(name, str(problem))
            return
        self.outcome.ran[name] = ended
        self._display.say(f"Stage '{name}' took {ended.seconds:.1f} s, {ended.cpu:.1f} s of CPU")
        self._order.settle(name)
        self._tell(at_once=True)

    def _fail(self, name: str, why: str) -> None:
        self.outcome.failed[name] = why
        self._display.warn(f"ERROR: failed to reproduce '{name}': {why}")
        skipped = self._order.fail(name)
        if skipped:
            names = ", ".join(f"'{one}'" for one in skipped)
            self._display.warn(f"WARNING: {names} will be skipped due to this failure")

    def _tell(self, at_once: bool) -> None:
        """Show how many stages are done, and how long the others are likely to take."""
        assert self._pool is not None
        done, failed, number = self._order.counts()
        left = {name: self._remaining.left(name) for name in [*self._running, *self._order.waiting()]}
        known = {name: seconds for name, seconds in left.items() if seconds is not None}
        said = [f"{done} of {number} stages done"]
        if failed:
            said.append(f"{failed} failed or skipped")
        if len(known) == len(left) > 0:
            said.append(f"{about(self._order.left(known, max(self._pool.room().stages, 1)))} left")
        self._display.whole(", ".join(said), at_once)

    def _record(self, at_once: bool) -> None:
        """Write what can be written into dvc.lock, unless it was written a moment ago and takes long."""
        when, took = self._last
        if not at_once and time.monotonic() - when < took / RECORDING:
            return
        same = set(self.outcome.unchanged)
        names = [name for name in self._order.recordable() if name not in same]
        if names:
            began = time.monotonic()
            self._pipeline.record(names)
            self._last = time.monotonic(), time.monotonic() - began
        self._order.recorded()  # not before: where it fails, it is tried again when the driver ends


def summary(outcome: Outcome, seconds: float) -> list[str]:
    """Return what was done, in one line; in another, how long the commands took, added up, and what was saved.

    That is against the same commands one after the other, each on the cores that it had; a serial run gives it all.
    """
    parts = {
        "ran": len(outcome.ran),
        "came out of DVC's cache": len(outcome.restored),
        "had not changed": len(outcome.unchanged),
        "failed": len(outcome.failed),
    }
    said = ", ".join(f"{number} {what}" for what, number in parts.items() if number)
    lines = [f"{said or 'nothing to do'}: {seconds:.0f} s"]
    added, cpu = (sum(getattr(ended, kind) for ended in outcome.ran.values()) for kind in ("seconds", "cpu"))
    if outcome.ran:
        saved = f", {added - seconds:.0f} s of which were saved" if added > seconds else ""
        lines.append(f"the commands took {added:.0f} s, {cpu:.0f} s of CPU{saved}")
    return lines
