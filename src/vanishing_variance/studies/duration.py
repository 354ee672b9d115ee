"""Estimate of the time that a study's trainings take on this machine, from a few steps of each kind."""

import json
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from math import ceil
from time import perf_counter
from typing import Any

from vanishing_variance import engines
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.run import Run
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.parallel import cores
from vanishing_variance.studies.arguments import Planned
from vanishing_variance.studies.files import results_file

# Steps of two short trainings of a kind, in whose difference there is nothing but steps.
FEW, MORE = 20, 60
# Steps of a seed that are not worth measuring.
SHORT = 100_000


def seconds_of(name: str, plan: Mapping[str, Any]) -> float:
    """Return the seconds that the trainings of runs without results take, one run after another; 0 where few."""
    planned = Planned(name, dict(plan))
    missing = [run for run in planned.runs if not results_file(run).exists()]
    seconds = 0.0
    for runs in _by_kind(missing, planned):
        params = planned.params(runs[0].key, "train")
        training = engines.plan_of(params, runs[0])
        block = seeds(runs[0].block, params["seeds_per_block"])
        if len(runs) * len(block) * training.steps >= SHORT:
            at_once = 1 if training.is_plain else min(training.training.seeds_per_process, len(block))
            rounds = ceil(ceil(len(block) / at_once) / cores())
            seconds += len(runs) * rounds * training.steps * _seconds_of_step(training, block[:at_once])
    return seconds


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
    for steps in (FEW, MORE):
        begun = perf_counter()
        try:
            with redirect_stderr(StringIO()):
                engines.train(replace(training, steps=steps), some)
        except DivergedError:
            return 0
        times.append(perf_counter() - begun)
    return max(times[1] - times[0], 0) / (MORE - FEW)
