"""The files of results by name, views of one comparison: what the stage `compare` writes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.ranges import Range, training_steps
from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.frames import Files, widened
from vanishing_variance.harness.sections import Several, get_param
from vanishing_variance.results import shares, tables
from vanishing_variance.results.arms import BEYOND
from vanishing_variance.results.columns import LAST, rounded, rows
from vanishing_variance.results.comparison import Answers, Columns, compare, view
from vanishing_variance.results.paper import markdown, of_paper, trained_otherwise
from vanishing_variance.results.parts import parts
from vanishing_variance.results.runs import PAPER_TABLES, TASKS, compared, line_of, range_of

OVERVIEW: Columns = {name: (name, BEYOND) for name in ("baseline_accuracy", "line_accuracy", "difference", "d_z", "p")}
# Of p, where it is below every double.
SMALLEST = 1e-308
NOT_MEASURED = "Not measured: network {}.\n"
# What the names of the overview say after the task.
IN_NAME = {"short": [], "long": ["long"]}


@dataclass(frozen=True)
class TrainingSetup:
    """Training of the compared models: shortest and longest length by line, gradient steps by task and line.

    `sequences` they are tested with at each length; `otherwise`: what differs from the paper's training
    (`paper.trained_otherwise`).
    """

    shortest: Mapping[str, int]
    longest: Mapping[str, int]
    steps: Mapping[tuple[str, str], int]
    sequences: int
    otherwise: Mapping[str, Any] = field(default_factory=dict)

    @property
    def network(self) -> str:
        """The name of the network."""
        return str(self.otherwise.get("network", PAPER))

    def steps_on(self, task: str, range_: str) -> int:
        """Return the gradient steps of a task on a range, the same for all its lines; 0 where none was trained."""
        for (other, line), steps in self.steps.items():
            if (other, range_of(line)) == (task, range_):
                return steps
        return 0

    @classmethod
    def of(cls, params: Mapping[str, Any], lines: Collection[str]) -> "TrainingSetup":
        """Return what params.yaml says of some lines. Raises InputError."""
        lengths: dict[str, Range] = {line: get_param(params, f"ranges.{range_of(line)}", Range) for line in lines}
        return cls(
            shortest={line: of_line.shortest for line, of_line in lengths.items()},
            longest={line: of_line.longest for line, of_line in lengths.items()},
            steps={(task, line): training_steps(params, task, range_of(line)) for task in TASKS for line in lines},
            sequences=get_param(params, "test.sequences", Several),
            otherwise=trained_otherwise(params),
        )


def comparison(
    tested: pd.DataFrame, answers: Answers | None, paper: pd.DataFrame, norm: str, trained: TrainingSetup
) -> Files:
    """Return the paired tests, Tables 1 to 6 and the overview; without `answers`, no shares of uncertainty.

    `tested`: results by rule.
    """
    wanted = {*tables.WANTED, *OVERVIEW.values()}
    pairs = compared(trained.longest)
    frame = compare(tested, pairs, trained.longest, trained.sequences, wanted, answers=answers)
    frame = frame[frame["n"] > 0]
    tests = tables.tests(frame)
    numbered = ["# Tables 1 to 6\n"]
    for number, numbers in tables.numbers(tests, norm, paper).items():
        task, range_ = PAPER_TABLES[number]
        steps = of_paper(task, trained.steps_on(task, range_), range_, trained.otherwise)
        numbered.append(tables.markdown(number, numbers, norm, steps))
    return {
        "summary.json": overview(frame, norm),
        "tables/tests.csv": rounded(tests),
        "tables/paper.md": markdown(tables.numbers(tests, "ln", paper)),
        "tables/tables.md": "\n".join(numbered),
        "parts.md": parts(tested, pairs, trained.longest, trained.sequences) or NOT_MEASURED.format(trained.network),
    }


def overview(frame: pd.DataFrame, norm: str) -> dict[str, dict[str, float]]:
    """Return a few numbers a task, over the test lengths beyond training, for `dvc metrics diff`.

    `<task>_averaged` with averaged weights, whose gains differ less from machine to machine, and `<task>_last` with the
    paper's last ones; `<task>_long_…` where the long range is trained. `none` and `norm`, mean accuracies in percent;
    `gain`, the difference in percentage points, and log10 of the p of its paired t-test, which DVC would show with five
    decimals. Roles, not names: with another treatment the same keys hold its numbers.
    """
    found = view(frame, OVERVIEW)
    document: dict[str, dict[str, float]] = {}
    for task, range_, rule in product(found["task"].unique(), IN_NAME, ("averaged", LAST)):
        line, none = (line_of(name, range_) for name in (norm, "none"))
        for row in rows(found, task=task, line=line, baseline=none, rule=rule).to_dict("records"):
            numbers = {"none": row["baseline_accuracy"], "norm": row["line_accuracy"], "gain": row["difference"]}
            if not np.isnan(row["d_z"]):
                numbers["log10_p"] = np.log10(max(row["p"], SMALLEST))
            name = "_".join([task, *IN_NAME[range_], rule])
            document[name] = {key: round(float(number), 2) for key, number in numbers.items()}
    return document


def recovery(accuracy: pd.DataFrame, trained: TrainingSetup) -> Files:
    """Return accuracies by seed, and in words the shares of the lost accuracy that come back or are reproduced."""
    by_model = accuracy[[*shares.KEYS, "length", "accuracy"]]
    lost = shares.shares(accuracy, trained.longest)
    gains = {}
    partners = [line for line in ("ln", line_of("ln", "long")) if line in trained.longest]  # of none, as in dvc.yaml
    for task, line in product(accuracy["task"].unique(), partners):
        parts = shares.gain(accuracy, task, line, trained.longest[line])
        if parts:
            gains[task, line] = parts
    return {
        "interventions/accuracy.csv": widened(by_model.sort_values(shares.KEYS), "accuracy"),
        "interventions/interventions.md": shares.markdown(lost, gains),
    }


def without_interventions(network: str) -> Files:
    """Return the files of what is measured in the paper's network alone: no rows, and words that say so of another."""
    return {
        "interventions/accuracy.csv": pd.DataFrame(columns=shares.KEYS),
        "interventions/interventions.md": NOT_MEASURED.format(network),
        "proposition.json": {},
    }
