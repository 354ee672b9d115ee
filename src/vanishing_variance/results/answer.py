"""The answer in five treatments, trained on up to 16 items, with the paper's steps: the README's picture and table."""

from collections.abc import Mapping
from itertools import product

import pandas as pd

from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.accuracy import percent_by_length, rows
from vanishing_variance.results.compare.pairs import percent_beyond
from vanishing_variance.results.runs import REFERENCE, TASKS
from vanishing_variance.results.scale import PAPER_LONGEST
from vanishing_variance.statistics.intervals import interval

COLUMNS = ("treatment", "task", "length", "paper", "n", "mean", "low", "high")
# In place of a length: the mean over the lengths beyond training.
BEYOND = 0


# By the name of a treatment: its study, its line there, and the rule of the test.
TREATMENTS = {
    "none": ("paper-scale", "none", "last"),
    "ln": ("paper-scale", "ln", "last"),
    "averaged weights": ("fresh", "none", "averaged"),
    "ln, averaged weights": ("fresh", "ln", "averaged"),
    "three changes": ("fresh", "three-changes-none", "last"),
}


def answer(studies: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the mean accuracy (%) of n seeds, with its 95% t interval, by treatment, task and length: COLUMNS.

    `paper`: the paper's mean. `studies`: results of those of TREATMENTS, by rule.
    """
    reference = read_csv(REFERENCE)
    means = []
    for task, (treatment, (study, line, rule)) in product(TASKS, TREATMENTS.items()):
        ours = percent_by_length(rows(studies[study], task=task, line=line, rule=rule))
        ours[BEYOND] = percent_beyond(ours, PAPER_LONGEST["short"])
        cells = rows(reference, quantity="accuracy_pct", range_="short", rule="last", task=task)
        papers = rows(cells, variant=treatment).set_index("length")["value"]
        papers[BEYOND] = percent_beyond(papers.to_frame().T, PAPER_LONGEST["short"]).item()
        for length, values in ours.items():
            means.append((treatment, task, length, papers.get(length), len(values), *interval(values.to_numpy())))
    return pd.DataFrame(means, columns=list(COLUMNS))
