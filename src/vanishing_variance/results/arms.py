"""The results of a line and of its baseline, by seed and length.

Accuracies are fractions in results and percent here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool

from vanishing_variance.results.columns import LAST

# A scope is a test length, or the mean over the lengths beyond training.
BEYOND = "beyond"
# Which scopes a view asks for, beside BEYOND.
LENGTHS, SHORTEST, LONGEST = "lengths", "shortest", "longest"
Scope = int | str
# Lengths of the paper's tests that tables show, where they were tested, beside the mean of all.
SHOWN = (2**8, 2**11, 2**14)


def by_length(results: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column of results, a row a seed and a column a length, both increasing."""
    wide = results.pivot(index="seed", columns="length", values=column).astype(float)
    return wide.set_axis(wide.columns.astype(int), axis=1)


def percent_by_length(results: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies in percent, a row a seed and a column a length, both increasing."""
    return 100 * by_length(results, "accuracy")


def mean_beyond(values: pd.DataFrame, longest: int) -> "pd.Series[float]":
    """Return each seed's mean over the lengths, columns, beyond `longest`, of training."""
    return values.loc[:, values.columns.to_numpy() > longest].mean(axis=1)


def of_both(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Return the rows of two frames or series of the seeds that both have, in the same order."""
    both = theirs.index.intersection(ours.index)
    return ours.loc[both], theirs.loc[both]


@dataclass(frozen=True, eq=False)
class Arms:
    """The results of a line and of its baseline on one task by one rule, rows of `by_rule`; of the latter maybe none.

    `longest`: the longest training length; each accuracy is of so many `sequences`. `answers`: of both, by length.
    """

    line: pd.DataFrame
    baseline: pd.DataFrame
    longest: int
    sequences: int
    rule: str = LAST
    answers: Sequence[Mapping[str, Bool[np.ndarray, "S I"]]] = ()

    @cached_property
    def ours(self) -> pd.DataFrame:
        """The line's accuracies, a row a seed and a column a scope."""
        return self._with_beyond(percent_by_length(self.line))

    @cached_property
    def theirs(self) -> pd.DataFrame:
        """The same of the baseline."""
        return self._with_beyond(percent_by_length(self.baseline))

    @cached_property
    def paired(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The accuracies of both, of the seeds that both have."""
        ours, theirs = of_both(self.ours, self.theirs)
        return ours.reindex(columns=theirs.columns), theirs

    @cached_property
    def gains(self) -> pd.DataFrame:
        """The line's accuracies minus the baseline's, of the seeds that both have."""
        ours, theirs = self.paired
        return ours - theirs

    @property
    def lengths(self) -> list[int]:
        """The test lengths."""
        return [int(scope) for scope in self.ours.columns if scope != BEYOND]

    def scopes(self, which: str) -> Sequence[Scope]:
        """Return the scopes that a view asks for: BEYOND, LENGTHS, SHORTEST or LONGEST."""
        ends = {LENGTHS: self.lengths, SHORTEST: self.lengths[:1], LONGEST: self.lengths[-1:]}
        return ends.get(which, [which])

    def inside(self, results: pd.DataFrame, name: str) -> pd.DataFrame:
        """Return what was measured inside the models of one arm, a row a seed and a column a scope."""
        return self._with_beyond(by_length(results, name))

    def _with_beyond(self, values: pd.DataFrame) -> pd.DataFrame:
        return values.assign(**{BEYOND: mean_beyond(values, self.longest)})


class Pair(NamedTuple):
    """A line and its baseline on one task by one rule."""

    task: str
    line: str
    baseline: str
    rule: str = LAST
