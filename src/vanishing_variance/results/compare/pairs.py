"""Pairs by seed, and of variants that are compared.

S seeds, L lengths.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from vanishing_variance.results.accuracy import by_seed
from vanishing_variance.results.runs import RULES, TASKS, compared

Indexed = TypeVar("Indexed", pd.DataFrame, "pd.Series[Any]")


def of_both(ours: Indexed, theirs: Indexed) -> tuple[Indexed, Indexed]:
    """Return the rows of the seeds that both have, in the same order."""
    both = theirs.index.intersection(ours.index)
    return ours.loc[both], theirs.loc[both]


def percent_beyond(by_length: pd.DataFrame, longest: int) -> "pd.Series[float]":
    """Return each seed's mean over the lengths, columns, beyond `longest`, of training."""
    return by_length.loc[:, by_length.columns.to_numpy() > longest].mean(axis=1)


class Pair(NamedTuple):
    """Two variants of one task and range by one rule: `treatment` minus `baseline`."""

    task: str
    range_: str
    treatment: str
    baseline: str
    rule: str = "last"

    def accuracies(self, accuracy: pd.DataFrame, longest: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return `by_seed` of treatment and baseline, of the seeds that both have, at the lengths above `longest`."""
        treated = by_seed(accuracy, self.task, self.range_, self.treatment, self.rule)
        untreated = by_seed(accuracy, self.task, self.range_, self.baseline, self.rule)
        ours, theirs = of_both(treated, untreated)
        beyond = [length for length in theirs.columns if int(length) > longest]
        return ours.reindex(columns=beyond), theirs[beyond]


def pairs(
    accuracy: pd.DataFrame, norm: str, ranges: Sequence[str]
) -> Iterator[tuple[Pair, pd.DataFrame, pd.DataFrame]]:
    """Yield each pair that is compared and has a common seed, with the accuracies of both, (S, L)."""
    for task, range_ in product(TASKS, ranges):
        for (treatment, baseline), rule in product(compared(range_, norm), RULES):
            pair = Pair(task, range_, treatment, baseline, rule)
            ours, theirs = pair.accuracies(accuracy)
            if len(theirs):
                yield pair, ours, theirs
