"""The shortest time that a graph of stages can take on so many cores, from the times of its stages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """Seconds of a stage on one core; of those, `serial` that more cores do not share; how many cores it can use."""

    seconds: float
    serial: float
    processes: int

    def on(self, cores: int) -> float:
        """Seconds on so many cores (Amdahl's law)."""
        return self.serial + (self.seconds - self.serial) / min(cores, self.processes)


def measured(one: float, two: float, processes: int) -> Stage:
    """A stage of which it is known how long it takes on one core and, with two processes where it can, on two."""
    if processes == 1:
        return Stage(one, one, 1)
    return Stage(one, min(max(2 * two - one, 0.0), one), processes)


def chain(stages: Mapping[str, Stage], upstream: Mapping[str, Sequence[str]], cores: int) -> float:
    """Seconds of the longest chain of stages that wait for each other, each on all cores that it can use.

    The names of `upstream` come after those that they wait for.
    """
    ends: dict[str, float] = {}
    for name, before in upstream.items():
        ends[name] = max((ends[one] for one in before), default=0.0) + stages[name].on(cores)
    return max(ends.values())


def bound(stages: Mapping[str, Stage], upstream: Mapping[str, Sequence[str]], cores: int) -> float:
    """No schedule on so many cores takes less: neither than all work shared evenly, nor than the longest chain."""
    return max(sum(stage.seconds for stage in stages.values()) / cores, chain(stages, upstream, cores))


def on_gpus(
    stages: Mapping[str, Stage], upstream: Mapping[str, Sequence[str]], these: Sequence[str], gpus: int
) -> float:
    """The same where `these` stages run on GPUs, one a GPU, as fast as on two cores; and the others on two cores."""
    others = [stage.seconds for name, stage in stages.items() if name not in these]
    shared = sum(stages[name].on(2) for name in these) / gpus
    return max(shared, sum(others) / 2, chain(stages, upstream, 2))
