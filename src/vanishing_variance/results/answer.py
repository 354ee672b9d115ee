"""The answer in five treatments, trained on up to 16 items at the paper's scale: the README's picture and table."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pandas as pd

from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.runs import REFERENCE, TASKS
from vanishing_variance.results.accuracy import COLUMNS as ACCURACY
from vanishing_variance.results.accuracy import by_seed, rows
from vanishing_variance.results.scale import PAPER_LONGEST
from vanishing_variance.statistics.intervals import interval

COLUMNS = ("treatment", "task", "length", "paper", "n", "mean", "low", "high")
# In place of a length: the mean over the lengths beyond training.
BEYOND = 0


@dataclass(frozen=True)
class Treatment:
    """A treatment: the record of its models, their normaliser, the rule of the test, and whether the paper has it."""

    name: str
    record: str
    norm: str
    rule: str
    in_paper: bool


TREATMENTS = (
    Treatment("none", "paper-scale", "none", "plain", in_paper=True),
    Treatment("ln", "paper-scale", "ln", "plain", in_paper=True),
    Treatment("averaged weights", "averaged-weights", "none", "averaged", in_paper=False),
    Treatment("ln, averaged weights", "averaged-weights", "ln", "averaged", in_paper=False),
    Treatment("three changes", "three-changes", "none", "plain", in_paper=False),
)


def read_answer(metrics: Path) -> pd.DataFrame:
    """Return `answer` of the records in a folder. Raises InputError where one is missing."""
    records = {one.record: read_csv(metrics / one.record / "accuracy.csv", *ACCURACY) for one in TREATMENTS}
    return answer(records, read_csv(REFERENCE))


def answer(records: Mapping[str, pd.DataFrame], reference: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracy (%) of n seeds, with its 95% t interval, by treatment, task and length: COLUMNS.

    `records`: the raw accuracies of each record; `reference`: the paper's numbers, of which `paper` are the means.
    """
    means = []
    for task, treatment in product(TASKS, TREATMENTS):
        accuracy = records[treatment.record]
        ours = by_seed(accuracy, task, "short", treatment.norm, treatment.rule)
        ours[BEYOND] = _beyond(ours)
        papers = _papers(reference, treatment, task)
        papers[BEYOND] = _beyond(papers.to_frame().T).item()
        for length, values in ours.items():
            means.append((treatment.name, task, length, papers.get(length), len(values), *interval(values.to_numpy())))
    return pd.DataFrame(means, columns=list(COLUMNS))


def _beyond(accuracies: pd.DataFrame) -> "pd.Series[float]":
    """Return the mean of each row over the columns, lengths, that are beyond training."""
    lengths = [length for length in accuracies.columns if int(length) > PAPER_LONGEST["short"]]
    return accuracies[lengths].mean(axis=1)


def _papers(reference: pd.DataFrame, treatment: Treatment, task: str) -> "pd.Series[float]":
    """Return the paper's means by length; empty where it has no such treatment."""
    if not treatment.in_paper:
        return pd.Series(dtype=float)
    variant = rows(reference, quantity="accuracy_pct", range_="short", rule="plain", task=task, variant=treatment.norm)
    return variant.set_index("length")["value"]
