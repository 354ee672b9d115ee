"""The cost of a step of each line of the leaderboard: `python -m benchmarks.prices`.

All lines in turn, in several rounds, one thread, four seeds at once; CPU time, the median of rounds, and relative to
the first line. Writes benchmarks/prices.csv.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import torch

from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.loop import train
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.parallel import single_threaded
from vanishing_variance.harness.runs import TASKS
from vanishing_variance.leaderboard.treatments import line_params, line_run, read_params, read_treatments

RESULTS = Path(__file__).resolve().with_suffix(".csv")
SEEDS, STEPS, ROUNDS = range(4), 128, 3


def main() -> None:
    single_threaded()
    torch.set_flush_denormal(True)
    params, lines = read_params(), read_treatments()
    seconds = []
    for number in range(ROUNDS):
        for line, treatment in lines.items():
            for task in TASKS:
                plan = TrainingPlan.of(line_params(params, treatment), line_run(line, treatment, task))
                seconds.append((line, task, number, _seconds(plan) / STEPS / len(SEEDS)))
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    found = pd.DataFrame(seconds, columns=["line", "task", "round", "seconds"])
    median = found.groupby(["line", "task"], sort=False)["seconds"].median().mul(1000).rename("ms").reset_index()
    first = median[median["line"] == next(iter(lines))].set_index("task")["ms"]
    median["relative"] = median["ms"] / median["task"].map(first)
    write_csv(RESULTS, median.round(3))
    print(median.round(2).to_markdown(index=False))


def _seconds(plan: TrainingPlan) -> float:
    """Return the CPU seconds of the first steps."""
    plan = replace(plan, steps=STEPS)
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, plan.variant.task_name, SEEDS)
    began = time.process_time()
    train(plan, weights, SEEDS)
    return time.process_time() - began


if __name__ == "__main__":
    main()
