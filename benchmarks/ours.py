"""Ours: chunks of seeds over the cores, as the stages run them; also with nothing compiled."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

from benchmarks.workload import Workload
from vanishing_variance.engine import adam, loop
from vanishing_variance.engine.device import device
from vanishing_variance.engine.kernels import attend, matmul
from vanishing_variance.engine.steps import FastSteps
from vanishing_variance.engine.task import Sequences
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Report
from vanishing_variance.measure.inference.models import Models, joined


def train(work: Workload, compiled: bool = True) -> float:
    """Milliseconds a gradient step and seed, drawing the data included, from the first recorded steps on."""
    size = work.plan().training.seeds_per_process if device().type == "cpu" else work.seeds
    seeds = list(range(work.seeds))
    chunks = [seeds[first : first + size] for first in range(0, work.seeds, size)]
    return _measured([partial(_train, work, compiled, chunk) for chunk in chunks])


def evaluate(work: Workload) -> float:
    """Milliseconds a test sequence and model, with the adaptive temperature, too."""
    if device().type != "cpu":
        return _measured([partial(_evaluate, work, work.seeds, 1)])
    chunks = min(work.seeds, parallel.cores())
    return _measured([partial(_evaluate, work, 1, work.seeds // chunks) for _ in range(chunks)])


def _train(work: Workload, compiled: bool, seeds: list[int], report: Report) -> None:
    if not compiled:
        compile_nothing()
    worker, note = time.perf_counter(), cast(Any, report)  # who it is from is reported, too
    loop.train(work.plan(), FastSteps(work.plan(), work.weights(seeds)), seeds, lambda done: note((worker, done)))


def _evaluate(work: Workload, together: int, models: int, report: Report) -> None:
    """`models` times `together` models, three times over; the first time is the warm-up."""
    worker, note, plan = time.perf_counter(), cast(Any, report), work.plan()
    parts: dict[int, list[Sequences]] = {}

    def read(size: int) -> Iterator[Sequences]:
        if size not in parts:
            parts[size] = list(work.sequences(size))
        return iter(parts[size])

    tested = [
        Models.of(plan.variant, {name: array.cpu().numpy() for name, array in work.weights([seed] * together).items()})
        for seed in range(models)
    ]
    for _ in range(3):
        for some in tested:
            batches = read(some.batch_size(work.length))
            joined(some.answers(batch, some.attended(batch)) for batch in batches)
        note((worker, work.amount * models * together))


def compile_nothing() -> None:
    for module, name in ((attend, "library"), (matmul, "library"), (adam, "library")):
        setattr(module, name, lambda *_: None)


def _measured(jobs: list[Any]) -> float:
    """Milliseconds a unit: the rates of the processes that run at once are added, each from its first report on."""
    marks: dict[float, list[tuple[float, int]]] = {}

    def note(mark: Any) -> None:
        worker, units = mark
        marks.setdefault(worker, []).append((time.perf_counter(), units))

    parallel.run(jobs, note)
    rates = [sum(units for _, units in of[1:]) / (of[-1][0] - of[0][0]) for of in marks.values()]
    rounds = max(1, len(jobs) / parallel.cores())
    return 1e3 * rounds / sum(rates)
