"""Dask's workers as the driver sees them: what they have room for, and stages that run there."""

import time
import uuid
from asyncio import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from dvc_parallel import command
from dvc_parallel.command import Command, Ended

SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True)
class Room:
    """The workers' resources: how many stages they run at once, cores, those of the largest, and GPUs to give.

    Whether there were `ever` GPUs: a stage that wants one waits while the worker that has it starts again.
    """

    stages: int
    cores: int
    largest: int
    gpus: int
    ever: bool


class Pool:
    """Runs commands by a Dask client. A worker's threads are its cores, unless it is said that it has `each` for one.

    Where all workers share one `machine`, that is its number of cores, whatever their threads. Into `messages` goes
    what the workers log (`command.on_worker`), and ("ended", stage, what came of it).
    """

    def __init__(
        self, client: Any, messages: SimpleQueue[tuple[Any, ...]], *, machine: int | None = None, each: int = 1
    ) -> None:
        self._client, self._messages, self._machine, self._each = client, messages, machine, each
        self._topic = f"repro-{uuid.uuid4().hex}"
        self._futures: set[Any] = set()
        self._seen = float("-inf")
        self._room = Room(0, 0, 0, 0, ever=False)
        client.subscribe_topic(self._topic, lambda event: messages.put(event[1]))

    def room(self) -> Room:
        """Return what all workers have, those that are busy included."""
        if time.monotonic() - self._seen > SECONDS_BETWEEN_LOOKS:
            workers = self._client.scheduler_info()["workers"].values()
            threads = [worker["nthreads"] for worker in workers]
            gpus = sum(int(worker["resources"].get("GPU", 0)) for worker in workers)
            cores, largest = sum(threads) * self._each, max(threads, default=0) * self._each
            ever = self._room.ever or gpus > 0
            self._room = Room(sum(threads), self._machine or cores, self._machine or largest, gpus, ever)
            self._seen = time.monotonic()
        return self._room

    def submit(self, what: Command, cores: int) -> None:
        """Run a command, elsewhere if its worker dies. It ends with an `Ended`, or why no worker could run it.

        The result is fetched at once, and no more than once: Dask runs a command again whose result is lost with its
        worker.
        """
        future = self._client.submit(
            command.on_worker,
            what,
            cores,
            self._topic,
            key=f"{what.stage}-{uuid.uuid4().hex}",
            pure=False,
            resources={"GPU": 1} if what.gpu and self._room.ever else None,
        )
        self._futures.add(future)

        def ended(future: Any) -> None:
            result: Ended | BaseException
            try:
                result = future.result()
            except (Exception, CancelledError) as problem:
                result = problem
            self._futures.discard(future)
            future.release()
            self._messages.put(("ended", what.stage, result))

        future.add_done_callback(ended)

    def cancel(self) -> None:
        """End what runs, on whichever worker, and wait until it has ended. The workers live on."""
        if not self._futures:
            return
        end = time.monotonic() + 2 * command.SECONDS_TO_END
        with suppress(OSError):  # a scheduler that is gone; a worker that is gone is left out
            self._client.cancel(list(self._futures))
            while time.monotonic() < end and any(self._running()):
                time.sleep(0.1)

    def _running(self) -> list[int]:
        """Return how many of these commands run on each worker that answers."""
        return list(self._client.run(command.running, self._topic, on_error="ignore").values())
