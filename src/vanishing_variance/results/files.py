"""Files of results by name, from raw results: what the stage `ttest` and studies write."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.ranges import Range, ranges_of, training_steps
from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.frames import widened
from vanishing_variance.harness.outputs import Files
from vanishing_variance.harness.sections import Several, get_param
from vanishing_variance.results import equal_attention, shares, shares_table, tables
from vanishing_variance.results.accuracy import rounded
from vanishing_variance.results.compare.beside_paper import markdown
from vanishing_variance.results.compare.gains import gains_table
from vanishing_variance.results.compare.paired_tests import Answers, paired_tests
from vanishing_variance.results.compare.pairs import Pair
from vanishing_variance.results.inside import INSIDE, beside_accuracy
from vanishing_variance.results.runs import PAPER_TABLES, TASKS
from vanishing_variance.results.scale import of_paper
from vanishing_variance.statistics.paired import difference

# Of p, where it is below every double.
SMALLEST = 1e-308
# What the names of the overview say after the task.
IN_NAME = {"short": [], "long": ["long"]}


@dataclass(frozen=True)
class TrainingSetup:
    """Training of the compared models: shortest and longest length by range, gradient steps by task and range.

    `sequences` they are tested with at each length. Of no other ranges than the study trains on. `attention` is the
    attention map, `network` the network's name.
    """

    shortest: Mapping[str, int]
    longest: Mapping[str, int]
    steps: Mapping[tuple[str, str], int]
    sequences: int
    attention: str = "softmax"
    network: str = PAPER

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "TrainingSetup":
        """Return what params.yaml says. Raises InputError."""
        ranges = {name: get_param(params, f"ranges.{name}", Range) for name in ranges_of(params)}
        return cls(
            shortest={name: lengths.shortest for name, lengths in ranges.items()},
            longest={name: lengths.longest for name, lengths in ranges.items()},
            steps={(task, name): training_steps(params, task, name) for task in TASKS for name in ranges},
            sequences=get_param(params, "test.sequences", Several),
            attention=get_param(params, "attention", str),
            network=params["network"],
        )


def comparison(
    accuracy: pd.DataFrame, answers: Answers | None, paper: pd.DataFrame, norm: str, trained: TrainingSetup
) -> Files:
    """Return the paired tests, Tables 1 to 6 and the overview; without `answers`, no shares of uncertainty."""
    tests = paired_tests(accuracy, answers, norm, list(trained.longest))
    numbered = ["# Tables 1 to 6\n"]
    for number, numbers in tables.numbers(tests, norm, paper).items():
        task, range_ = PAPER_TABLES[number]
        steps = of_paper(task, trained.steps[task, range_], trained.attention, trained.network)
        numbered.append(tables.markdown(number, numbers, norm, steps))
    return {
        "accuracy.csv": accuracy,
        "summary.json": overview(accuracy, norm, trained.longest),
        "tables/tests.csv": rounded(tests),
        "tables/paper.md": markdown(tables.numbers(tests, "ln", paper)),
        "tables/gains.md": gains_table(accuracy, norm, trained.longest, trained.sequences),
        "tables/tables.md": "\n".join(numbered),
    }


def mechanism(inside: pd.DataFrame, accuracy: pd.DataFrame, trained: TrainingSetup) -> Files:
    """Return the inside of the models, and in words the gain at equal attention; `inside` as `inside.inside`."""
    parts = equal_attention.split(beside_accuracy(inside, accuracy), trained.longest)
    return {"mechanism.csv": inside, "equal_attention.md": equal_attention.markdown(parts)}


def recovery(accuracy: pd.DataFrame, norm: str, trained: TrainingSetup) -> Files:
    """Return accuracies by seed, and in words the shares of the lost accuracy that come back or are reproduced."""
    by_model = accuracy[[*shares.KEYS, "length", "accuracy"]]
    lost = shares.shares(accuracy, trained.longest)
    gains = {}
    for task in TASKS:
        for range_, longest in trained.longest.items():
            treatment = norm if range_ == "long" else "ln"
            parts = shares.gain(accuracy, task, range_, treatment, longest)
            if parts:
                gains[task, range_, treatment] = parts
    return {
        "interventions/accuracy.csv": widened(by_model.sort_values(shares.KEYS), "accuracy"),
        "interventions/interventions.md": shares_table.markdown(lost, gains),
    }


def not_measured(network: str) -> Files:
    """Return the files of what is measured in the paper's network alone: no rows, and words that say so of another."""
    said = f"Not measured: network {network}.\n"
    return {
        "mechanism.csv": pd.DataFrame(columns=INSIDE),
        "equal_attention.md": said,
        "interventions/accuracy.csv": pd.DataFrame(columns=shares.KEYS),
        "interventions/interventions.md": said,
    }


def overview(accuracy: pd.DataFrame, norm: str, longest: Mapping[str, int]) -> dict[str, dict[str, float]]:
    """Return a few numbers a task, over the test lengths beyond training (`longest`), for `dvc metrics diff`.

    `<task>_averaged` with averaged weights, whose gains differ less from machine to machine, and `<task>_last` with the
    paper's last ones; `<task>_long_…` where the long range is trained. `none` and `norm`, mean accuracies in percent;
    `gain`, the difference in percentage points, and log10 of the p of its paired t-test, which DVC would show with five
    decimals. Roles, not names: with another treatment the same keys hold its numbers.
    """
    document: dict[str, dict[str, float]] = {}
    for task, (range_, bound), rule in product(TASKS, longest.items(), ("averaged", "last")):
        ours, theirs = Pair(task, range_, norm, "none", rule).accuracies(accuracy, bound)
        if theirs.empty:
            continue
        treated = ours.mean(axis=1).to_numpy()
        untreated = theirs.mean(axis=1).to_numpy()
        test = difference(treated, untreated)
        numbers = {"none": untreated.mean(), "norm": treated.mean(), "gain": test.mean}
        if not np.isnan(test.d_z):
            numbers["log10_p"] = np.log10(max(test.p, SMALLEST))
        name = "_".join([task, *IN_NAME[range_], rule])
        document[name] = {key: round(float(number), 2) for key, number in numbers.items()}
    return document
