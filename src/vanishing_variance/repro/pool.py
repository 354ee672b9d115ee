"""Dask's workers as the driver sees them: what they have room for, and stages that run there."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vanishing_variance.repro import command
from vanishing_variance.repro.command import Command

SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True)
class Room:
    """What the workers have: how many stages they run at once, cores, those of the largest, and GPUs to give."""

    stages: int
    cores: int
    largest: int
    gpus: int


class Pool:
    """Runs commands by a Dask client. A worker's threads are its cores, unless it is said that it has `each` for one.

    Where all workers share one `machine`, that is its number of cores, whatever their threads. `tell` gets what the
    workers log (dictionaries of `command.on_worker`), in another thread.
    """

    def __init__(
        self, client: Any, tell: Callable[[dict[str, Any]], None], *, machine: int | None = None, each: int = 1
    ) -> None:
        self._client, self._machine, self._each = client, machine, each
        self._topic = f"repro-{uuid.uuid4().hex}"
        self._futures: set[Any] = set()
        self._seen = float("-inf")
        self._room = Room(0, 0, 0, 0)
        client.subscribe_topic(self._topic, lambda event: tell(event[1]))

    def room(self) -> Room:
        """What all workers have, those that are busy included."""
        if time.monotonic() - self._seen > SECONDS_BETWEEN_LOOKS:
            workers = self._client.scheduler_info()["workers"].values()
            threads = [worker["nthreads"] for worker in workers]
            gpus = sum(int(worker["resources"].get("GPU", 0)) for worker in workers)
            cores, largest = sum(threads) * self._each, max(threads, default=0) * self._each
            self._room = Room(sum(threads), self._machine or cores, self._machine or largest, gpus)
            self._seen = time.monotonic()
        return self._room

    def submit(self, what: Command, cores: int, done: Callable[[Any], None]) -> None:
        """Run a command, elsewhere if its worker dies; `done` gets the future, in another thread, when it ended."""
        future = self._client.submit(
            command.on_worker,
            what,
            cores,
            self._topic,
            key=f"{what.stage}-{uuid.uuid4().hex}",
            pure=False,
            resources={"GPU": 1} if what.gpu and self._room.gpus else None,
        )
        self._futures.add(future)
        future.add_done_callback(done)

    def forget(self, future: Any) -> None:
        """The future's result is not needed any more."""
        self._futures.discard(future)
        future.release()

    def cancel(self) -> None:
        """End what runs, on whichever worker, and wait until it has ended. The workers live on."""
        if not self._futures:
            return
        self._client.cancel(list(self._futures))
        self._futures.clear()
        end = time.monotonic() + 2 * command.SECONDS_TO_END
        while time.monotonic() < end and any(self._client.run(command.running, self._topic).values()):
            time.sleep(0.1)
