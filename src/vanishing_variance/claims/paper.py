"""Every claim of the paper that is judged, in its order (claims.csv), and what is measured for one.

docs/decisions.md says when the criteria were set. Claims about what training leads to, accuracy and the inside of
trained models, are judged for each task, by models that are trained like the paper's alone; those of `theory` at any
scale. Ours, not the paper's: `cause-moments`, `cause-attention` and `cause-read-out`. Not judged: that it helps to let
the training lengths grow (B.2; `-S ranges.long.growth=null` asks), that vanishing variance is what degrades LLMs
(Figure 1's caption), and that dispersion is inevitable (Figure 4's, a theorem of Veličković et al.).
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from vanishing_variance.claims.verdict import NotTestedError
from vanishing_variance.results.arms import Pair
from vanishing_variance.statistics.intervals import NAN, interval

Ends = Float[np.ndarray, "K 2"]
ONE_SEED, ALL_EQUAL = "one seed: no test", "all differences equal: no test"
# Values: what differs in its last bits only is equal, as accuracies are ratios of counts.
EQUAL = 1e-10


@dataclass(frozen=True)
class Claim:
    """A row of claims.csv: where the paper has the claim, what it says, and how it is judged.

    `as_read`, where not empty: the criterion judges one reading of a sentence that has others; `after_results`: it was
    set, or took its present form, after results had been seen. `statistic`: of `judgement.STATISTICS`; its arguments
    are `tasks`, a space between, whose trained models it is of; the lines `treatment` and `baseline`; the `rule` by
    which they are tested; a `column` of the inside of models. `criterion`: of `criteria.CRITERIA`.
    """

    key: str
    where: str
    as_read: str
    after_results: str
    statistic: str
    tasks: str
    treatment: str
    baseline: str
    rule: str
    column: str
    criterion: str
    says: str

    @property
    def pair(self) -> Pair:
        """Return treatment and baseline of the first task."""
        return Pair(self.tasks.split()[0], self.treatment, self.baseline, self.rule)


@dataclass(frozen=True)
class Measured:
    """A statistic of n seeds: our value with its 95% interval and the paper's, in `unit`; `words` say more.

    `intervals`: of K statistics, where the criterion is about several; `by_length`: the same at single lengths.
    `parts`: verdicts on parts of the claim, by name. A number that does not exist is NaN, and n None.
    """

    words: str
    unit: str = ""
    ours: float = NAN
    low: float = NAN
    high: float = NAN
    paper: float = NAN
    n: int | None = None
    intervals: Ends = field(default_factory=lambda: np.empty((0, 2)))
    by_length: Mapping[Any, Ends] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)


def by_seed(values: Float[np.ndarray, " S"], unit: str, words: str, **others: Any) -> Measured:
    """Return the mean over S seeds with its 95% t interval, none where all values are equal; `others`: its fields.

    Raises NotTestedError for one seed.
    """
    if are_equal(values):
        return Measured(f"{words}, {ALL_EQUAL}", unit, float(values.mean()), n=len(values), **others)
    return Measured(words, unit, *interval(values), n=len(values), **others)


def are_equal(values: Float[np.ndarray, " S"]) -> bool:
    """Return whether the values of S seeds are equal, but for rounding. Raises NotTestedError for one seed."""
    if len(values) < 2:
        raise NotTestedError(ONE_SEED)
    return bool(np.ptp(values) <= EQUAL)


TABLE = Path(__file__).with_name("claims.csv").read_text(encoding="utf-8")
CLAIMS = [Claim(**row) for row in csv.DictReader(TABLE.splitlines())]
