"""A training step on a GPU, by the size of the ensemble: `python -m benchmarks.gpu [SEEDS ...]`.

Milliseconds a step with its data, recorded as CUDA graphs and launched from Python; how many kernels are launched in a
step then; and the memory.
"""

import sys
from dataclasses import replace
from unittest.mock import patch

import pandas as pd
import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.clock import now
from benchmarks.machine import machine
from benchmarks.workload import Workload
from vanishing_variance.engine import loop
from vanishing_variance.engine.graphs import Graphs
from vanishing_variance.engine.steps import FastSteps
from vanishing_variance.harness.parallel import single_threaded

STEPS = 1024


def milliseconds(work: Workload, *, recorded: bool) -> float:
    """Return the time of a step, from the first steps reported on: nearly all lengths have been recorded then."""
    seeds = list(range(work.seeds))
    reports: list[tuple[float, int]] = []
    step = Graphs.__call__ if recorded else Graphs.as_it_is
    with patch.object(Graphs, "__call__", step):
        loop.train(
            work.plan(), FastSteps(work.plan(), work.weights(seeds)), seeds, lambda done: reports.append((now(), done))
        )
    (began, _), *later = [(moment, done) for moment, done in reports if done]
    ended, _ = later[-1]
    steps = sum(done for _, done in later) / work.seeds
    return 1e3 * (ended - began) / steps


def launches(work: Workload) -> int:
    """Return how many kernels a step has that Python launches."""
    seeds = list(range(work.seeds))
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with patch.object(Graphs, "__call__", Graphs.as_it_is), profile(activities=activities) as seen:
        loop.train(work.plan(), FastSteps(work.plan(), work.weights(seeds)), seeds)
    kernels = [event for event in seen.events() or () if "LaunchKernel" in event.name]
    return round(len(kernels) / work.amount)


def main() -> None:
    single_threaded()
    rows = []
    for task in ("argmax", "dictionary"):
        for seeds in map(int, sys.argv[1:] or (8, 104)):
            work = Workload("train", task, 16, seeds, STEPS)
            torch.cuda.reset_peak_memory_stats()
            row = {"task": task, "seeds": seeds, "recorded, ms": milliseconds(work, recorded=True)}
            row["launched, ms"] = milliseconds(replace(work, amount=STEPS // 4), recorded=False)
            row["MiB"] = torch.cuda.max_memory_allocated() / 2**20
            row["kernels"] = launches(replace(work, amount=40))
            rows.append(row)
            print(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".3g"), flush=True)
    print(machine()["device"])


if __name__ == "__main__":
    main()
