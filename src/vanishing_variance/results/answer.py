"""The answer in five treatments, trained on up to 16 items, with the paper's steps: the README's picture and table."""

from dataclasses import dataclass
from itertools import product

import pandas as pd

from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.accuracy import percent_by_length, rows
from vanishing_variance.results.runs import REFERENCE, TASKS
from vanishing_variance.results.scale import PAPER_LONGEST
from vanishing_variance.statistics.intervals import interval

COLUMNS = ("treatment", "task", "length", "paper", "n", "mean", "low", "high")
# In place of a length: the mean over the lengths beyond training.
BEYOND = 0


@dataclass(frozen=True)
class Treatment:
    """A treatment: its line, the rule of the test, and whether the paper has it.

    The line is of the study `fresh`; of one that the paper has, of the study `paper-scale`.
    """

    name: str
    line: str
    rule: str
    in_paper: bool


TREATMENTS = (
    Treatment("none", "none", "last", in_paper=True),
    Treatment("ln", "ln", "last", in_paper=True),
    Treatment("averaged weights", "none", "averaged", in_paper=False),
    Treatment("ln, averaged weights", "ln", "averaged", in_paper=False),
    Treatment("three changes", "three-changes-none", "last", in_paper=False),
)


def answer(paper_scale: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracy (%) of n seeds, with its 95% t interval, by treatment, task and length: COLUMNS.

    `paper`: the paper's mean. `paper_scale`, `fresh`: results of these studies, by rule.
    """
    reference = read_csv(REFERENCE)
    means = []
    for task, treatment in product(TASKS, TREATMENTS):
        study = paper_scale if treatment.in_paper else fresh
        tested = rows(study, task=task, line=treatment.line, rule=treatment.rule)
        ours = percent_by_length(tested)
        ours[BEYOND] = _beyond(ours)
        cells = rows(reference, quantity="accuracy_pct", range_="short", rule="last", task=task)
        papers = rows(cells, variant=treatment.name).set_index("length")["value"]
        papers[BEYOND] = _beyond(papers.to_frame().T).item()
        for length, values in ours.items():
            means.append((treatment.name, task, length, papers.get(length), len(values), *interval(values.to_numpy())))
    return pd.DataFrame(means, columns=list(COLUMNS))


def _beyond(accuracies: pd.DataFrame) -> "pd.Series[float]":
    """Return the mean of each row over the columns, lengths, that are beyond training."""
    lengths = [length for length in accuracies.columns if int(length) > PAPER_LONGEST["short"]]
    return accuracies[lengths].mean(axis=1)
