"""The cost of a step of each line of the leaderboard: `python -m benchmarks.prices`.

All lines in turn, in several rounds, one thread, four seeds at once; CPU time, the median of rounds, and relative to
the first line. Writes benchmarks/prices.csv and prices.md.
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
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.parallel import single_threaded
from vanishing_variance.leaderboard.files import TASKS
from vanishing_variance.leaderboard.treatments import read_params, read_treatments, training_plan
from vanishing_variance.report.machine import machine

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
                plan = training_plan(params, task, line, treatment)
                seconds.append((line, task, number, _seconds(plan) / STEPS / len(SEEDS)))
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    found = pd.DataFrame(seconds, columns=["line", "task", "round", "seconds"])
    median = found.groupby(["line", "task"], sort=False)["seconds"].median().mul(1000).rename("ms").reset_index()
    first = median[median["line"] == next(iter(lines))].set_index("task")["ms"]
    median["relative"] = median["ms"] / median["task"].map(first)
    write_csv(RESULTS, median.round(3))
    write_text(RESULTS.with_suffix(".md"), markdown(median))


def _seconds(plan: TrainingPlan) -> float:
    """Return the CPU seconds of the first steps."""
    plan = replace(plan, steps=STEPS)
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, plan.variant.task_name, SEEDS)
    began = time.process_time()
    train(plan, weights, SEEDS)
    return time.process_time() - began


def markdown(median: pd.DataFrame) -> str:
    """Return a row a line: CPU milliseconds of a step and seed, and relative to the first line, by task."""
    about = machine()
    wide = median.pivot(index="line", columns="task", values=["ms", "relative"])
    keys = [(unit, task) for task in TASKS for unit in ("ms", "relative")]
    lines = [
        "# What a step of each line of the leaderboard costs",
        "",
        f"CPU milliseconds of a step and seed, median of {ROUNDS} rounds of {STEPS} steps, one thread,",
        f"{len(SEEDS)} seeds at once; and relative to the first line. {about['device']}, {about['cores']} cores,",
        f"commit {about['revision']}.",
        "",
        *table(
            ["line", *(f"{task} ({unit})" for task in TASKS for unit in ("ms", "×"))],
            ([line, *(f"{wide.loc[line, key]:.2f}" for key in keys)] for line in dict.fromkeys(median["line"])),
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
