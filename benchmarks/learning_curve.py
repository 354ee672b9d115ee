"""Accuracy on argmax against the number of steps: `python -m benchmarks.learning_curve STEPS [STEPS ...]`.

Trains none and ln once, a block of seeds on up to 16 with params.yaml's parameters, to the largest number of steps,
and tests them after each: Table 1's distance from the paper's, and what ln gains. Writes metrics/learning-curve.csv and
learning-curve.md.
Not for the dictionary, whose tables lag behind in mid-training (`kernels.adam`).
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks import ROOT
from benchmarks.workload import Workload, parts
from vanishing_variance.core import parallel
from vanishing_variance.core.files import write_text
from vanishing_variance.core.frames import read_csv, write_csv
from vanishing_variance.core.parallel import Job, Report
from vanishing_variance.core.progress import Progress
from vanishing_variance.core.seeding import stream
from vanishing_variance.inference.models import Models
from vanishing_variance.inference.temperature import PUBLISHED
from vanishing_variance.model.initialisation import draw
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.study.markdown import row
from vanishing_variance.study.runs import METRICS, REFERENCE
from vanishing_variance.training import loop as training
from vanishing_variance.training.plan import TrainingPlan

SEEDS, LONGEST, SEQUENCES = 8, 16, 512
LENGTHS = tuple(2**power for power in range(4, 15))
NORMS = ("none", "ln")
COLUMNS = ["steps", "norm", "seed", "temperature", "length", "accuracy"]


def main() -> None:
    marks = sorted({int(word) for word in sys.argv[1:]})
    if not marks:
        sys.exit(f"error: {__doc__.splitlines()[0]}")
    jobs: list[Job] = []
    for norm in NORMS:
        plan = _plan(norm, marks[-1])
        size = plan.training.seeds_per_process
        jobs += [partial(_curve, plan, range(first, first + size), marks) for first in range(0, SEEDS, size)]
    with Progress("learning curve", len(NORMS) * SEEDS * marks[-1], "seed-steps") as progress:
        write(pd.concat(parallel.run(jobs, progress), ignore_index=True))


def tested(plan: TrainingPlan, weights: Mapping[str, np.ndarray], seeds: range, steps: int) -> pd.DataFrame:
    """Return the accuracies of trained models, a fraction; the columns are COLUMNS."""
    models, rows = Models.of(plan.variant, weights), []
    for length in LENGTHS:
        rng = stream(plan.root_seed, "learning curve", length)
        drawn = plan.variant.task.sample(rng, SEQUENCES, length)
        for temperature, accuracies in models.accuracy(partial(parts, drawn), length, PUBLISHED).items():
            if temperature != "fitted":  # which is the published one here
                found = zip(seeds, accuracies.tolist(), strict=True)
                rows += [(steps, plan.variant.norm_name, seed, temperature, length, one) for seed, one in found]
    return pd.DataFrame(rows, columns=COLUMNS)


def write(accuracy: pd.DataFrame) -> None:
    """Write the accuracies, and what they come to."""
    accuracy = accuracy.sort_values(COLUMNS[:-1], ignore_index=True)
    write_csv(ROOT / METRICS / "learning-curve.csv", accuracy)
    write_text(ROOT / METRICS / "learning-curve.md", markdown(accuracy))


def markdown(accuracy: pd.DataFrame) -> str:
    """Return a row a number of steps: distance from Table 1, and ln minus none beyond training, with intervals."""
    paper = read_csv(REFERENCE).query("table == 1 and quantity == 'accuracy_pct'")
    theirs = paper.set_index(["variant", "temperature", "length"])["value"].dropna()
    lines = [
        f"# argmax, trained on up to {LONGEST}: how many steps, n = {accuracy['seed'].nunique()} seeds",
        "",
        row(
            ["steps", "from Table 1 (pp)", "ln − none beyond 16 (pp), 95% t interval", "lengths, p < 0.05", "adaptive"]
        ),
        row(["--:"] * 5),
    ]
    for steps, of in accuracy.groupby("steps"):
        means = of.groupby(["norm", "temperature", "length"])["accuracy"].mean() * 100
        away = (means.reindex(theirs.index) - theirs).abs().mean()
        gains = {name: _gain(one) for name, one in of.groupby("temperature")}
        lengths = gains["plain"][1]
        lines.append(row([f"{steps:,}", f"{away:.1f}", gains["plain"][0], str(lengths), gains["adaptive"][0]]))
    return "\n".join([*lines, ""])


def _gain(of: pd.DataFrame) -> tuple[str, int]:
    """Return the mean gain beyond training with its interval, and at how many test lengths ln leads with p < 0.05."""
    ln, none = (
        of[of["norm"] == norm].pivot_table(index="seed", columns="length", values="accuracy") for norm in ("ln", "none")
    )
    gains, lengths = (ln - none).to_numpy() * 100, ln.columns.to_numpy(dtype=int)
    mean, low, high = interval(gains[:, lengths > LONGEST].mean(axis=1))
    ahead = (gains.mean(axis=0) > 0) & (stats.ttest_1samp(gains, 0).pvalue < 0.05)
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]", int(ahead.sum())


def _plan(norm: str, steps: int) -> TrainingPlan:
    plan = Workload("train", "argmax", LONGEST, SEEDS, steps).plan()
    return replace(plan, range_name="short", variant=replace(plan.variant, norm_name=norm))


def _curve(plan: TrainingPlan, seeds: range, marks: list[int], report: Report) -> pd.DataFrame:
    """Return the accuracies after each number of steps in `marks`, of which the loss must be recorded."""
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, plan.variant.task_name, seeds)
    found, made = [], 0

    def watch(done: int) -> None:
        nonlocal made
        made += done // len(seeds)
        report(done)
        if made in marks:
            arrays = {name: tensor.detach().numpy().copy() for name, tensor in weights.items()}
            found.append(tested(plan, arrays, seeds, made))

    training.train(plan, weights, seeds, watch)
    return pd.concat(found, ignore_index=True)


if __name__ == "__main__":
    main()
