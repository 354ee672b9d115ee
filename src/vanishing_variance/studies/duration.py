"""Estimate of the time that a study's trainings take on this machine, from a few steps of each kind."""

import json
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from math import ceil
from statistics import mean
from time import perf_counter
from typing import NamedTuple

from vanishing_variance import engines
from vanishing_variance.engine.device import device
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.run import Run
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.parallel import Report, cores, job
from vanishing_variance.studies.arguments import Planned

# Steps of two short trainings of a kind, in whose difference there is nothing but steps.
FEW, MORE = 20, 80
# Steps of a seed, of all runs together, that are not worth measuring.
SHORT = 100_000


class _Kind(NamedTuple):
    """Some runs of a block of seeds that take equally long a step.

    `at_once`: the seeds that one process trains at once; `steps`: those of all runs, one after another, on all cores;
    `seed_steps`: those of all seeds of all runs.
    """

    training: TrainingPlan
    at_once: list[int]
    steps: int
    seed_steps: int


def _kind_of(runs: Sequence[Run], planned: Planned) -> _Kind:
    params = planned.params(runs[0].key, "train")
    training = engines.plan_of(params, runs[0])
    block = seeds(runs[0].block, params["seeds_per_block"])
    of_process = 1 if training.is_plain else training.training.seeds_per_process
    at_once = block[:of_process] if device().type == "cpu" else block
    rounds = ceil(ceil(len(block) / len(at_once)) / cores())
    return _Kind(training, at_once, len(runs) * rounds * training.steps, len(runs) * len(block) * training.steps)


def seconds_of(planned: Planned, some: Iterable[Run]) -> float:
    """Return the seconds that the trainings of some runs take, one after another; 0 where few."""
    kinds = [_kind_of(runs, planned) for runs in _by_kind(some, planned)]
    if sum(kind.seed_steps for kind in kinds) < SHORT:
        return 0.0
    return sum(kind.steps * seconds for kind, seconds in zip(kinds, _of_steps(kinds), strict=True))


def _of_steps(kinds: Sequence[_Kind]) -> list[float]:
    """Return the seconds of a step of each kind where all cores train at once, since they share memory and more."""
    processes = cores() if device().type == "cpu" else 1
    measured = parallel.run([job(_measured, kinds)] * processes, lambda _: None)
    return [mean(of_kind) for of_kind in zip(*measured, strict=True)]


def _measured(kinds: Sequence[_Kind], _report: Report) -> list[float]:
    return [_seconds_of_step(kind.training, kind.at_once) for kind in kinds]


def _by_kind(runs: Iterable[Run], planned: Planned) -> list[list[Run]]:
    """Return runs that take equally long a step together: they differ in how the optimiser is set alone."""
    kinds: dict[str, list[Run]] = {}
    for run in runs:
        params = planned.params(run.key, "train")
        params = {**params, "training": params["training"]["batch_size"]}
        kinds.setdefault(json.dumps(params, sort_keys=True), []).append(run)
    return list(kinds.values())


def _seconds_of_step(training: TrainingPlan, some: list[int]) -> float:
    """Return the seconds of a step of some seeds, which one process trains at once; 0 where they diverge."""
    times = []
    for steps in (FEW, FEW, MORE):  # the first of a process has more to do, once
        begun = perf_counter()
        try:
            with redirect_stderr(StringIO()):
                engines.train(replace(training, steps=steps), some)
        except DivergedError:
            return 0
        times.append(perf_counter() - begun)
    return max(times[2] - times[1], 0) / (MORE - FEW)
