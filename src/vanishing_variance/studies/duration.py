"""Estimate of the time that a study's trainings take on this machine, from a few steps of each kind."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from math import ceil
from statistics import mean
from time import perf_counter

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


# A training, and the seeds that one process trains at once.
Kind = tuple[TrainingPlan, list[int]]


def seconds_of(planned: Planned, some: Iterable[Run]) -> float:
    """Return the seconds that the trainings of some runs take, one after another; 0 where few.

    Runs that differ in how the optimiser is set alone are of one kind, of which a step takes equally long.
    """
    kinds: dict[str, Kind] = {}
    steps: Counter[str] = Counter()
    seed_steps = 0
    for run in some:
        params = planned.params(run.key, "train")
        kind = json.dumps({**params, "training": params["training"]["batch_size"]}, sort_keys=True)
        block = seeds(run.block, params["seeds_per_block"])
        if kind not in kinds:
            kinds[kind] = _kind(engines.plan_of(params, run), block)
        training, at_once = kinds[kind]
        steps[kind] += ceil(ceil(len(block) / len(at_once)) / cores()) * training.steps
        seed_steps += len(block) * training.steps
    if seed_steps < SHORT:
        return 0.0
    return sum(steps[kind] * seconds for kind, seconds in zip(kinds, _of_steps([*kinds.values()]), strict=True))


def _kind(training: TrainingPlan, block: list[int]) -> Kind:
    of_process = 1 if training.is_plain else training.training.seeds_per_process
    return training, block[:of_process] if device().type == "cpu" else block


def _of_steps(kinds: Sequence[Kind]) -> list[float]:
    """Return the seconds of a step of each kind where all cores train at once, since they share memory and more."""
    processes = cores() if device().type == "cpu" else 1
    measured = parallel.run([job(_measured, kinds)] * processes, lambda _: None)
    return [mean(of_kind) for of_kind in zip(*measured, strict=True)]


def _measured(kinds: Sequence[Kind], _report: Report) -> list[float]:
    return [_seconds_of_step(*kind) for kind in kinds]


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
