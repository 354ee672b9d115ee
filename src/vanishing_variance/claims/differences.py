"""Differences in accuracy between two variants beyond the training lengths, paired by seed, and the paper's.

S seeds, L lengths.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy import stats

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.verdict import ONE_SEED, NotTestedError
from vanishing_variance.results.accuracy import pair, rows
from vanishing_variance.results.scale import PAPER_SEEDS
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.power import ALPHA

# Percentage points: the paper's accuracies have one decimal, so a difference is off by at most two halves of a tenth.
ROUNDED = 0.1
# Percentage points: accuracies are ratios of counts, and what differs in their last bits only is equal.
EQUAL = 1e-10


@dataclass(frozen=True)
class Pair:
    """Two variants of one task and range by one rule: `treatment` minus `baseline`."""

    task: str
    range_: str
    treatment: str
    baseline: str
    rule: str = "plain"

    def accuracies(self, evidence: Evidence) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return those of treatment and baseline in percent, a row a seed that both have, a column a length, (S, L)."""
        return pair(evidence.accuracy, **vars(self), longest=evidence.training.longest[self.range_])

    def gains(self, evidence: Evidence) -> Float[np.ndarray, " S"]:
        """Return the mean difference over all lengths beyond training, in percentage points, for each seed."""
        ours, theirs = self.accuracies(evidence)
        gains = ours.mean(axis=1) - theirs.mean(axis=1)
        return gains.to_numpy()

    def behind(self, evidence: Evidence) -> list[int]:
        """Return the lengths at which the treatment is significantly below: paired t-test, Holm over these lengths."""
        ours, theirs = self.accuracies(evidence)
        differences = ours - theirs
        p = []
        for values in differences.to_numpy().T:
            p.append(np.nan if no_test(values) else stats.ttest_1samp(values, 0).pvalue)
        significant = holm(np.array(p)) < ALPHA
        below = theirs.columns[significant & (differences.mean() < 0)]
        return [int(length) for length in below]

    def below(self, evidence: Evidence) -> pd.Series:
        """Return by how many percentage points a baseline `none` is below the paper's, by length beyond training."""
        papers = self._papers_numbers(evidence)["none"]
        _, theirs = self.accuracies(evidence)
        below = papers - theirs.mean()
        return below.dropna() if self.baseline == "none" else below[:0]

    def papers(self, evidence: Evidence) -> pd.Series:
        """Return the paper's differences in percentage points by length, at our test lengths beyond training.

        Those that the conversion of its tables lost are absent.
        """
        wide = self._papers_numbers(evidence)
        # Gains over none: of std Table 3 has them, the other tables have accuracies.
        gains = {"none": 0 * wide["none"], "ln": wide["ln"] - wide["none"], "std": wide["std"]}
        differences = gains[self.treatment] - gains[self.baseline]
        return differences.dropna()

    def papers_errors(self, evidence: Evidence) -> pd.Series:
        """Return the most that the standard error of the paper's difference can be, in points, by length.

        The error is the difference, rounded up, over the t that its p-value has with 100 seeds. Over lengths, the mean
        of these errors is that of the mean difference if lengths err together, and else above it. `std` and `none` are
        compared through `ln`: of a sum, the error is at most the sum of the errors.
        """
        tested = ["none", "std"] if self.treatment == "std" else [self.baseline]
        wide = self._papers_numbers(evidence)
        error = pd.Series(0.0, index=wide.index)
        for baseline in tested:
            differences = replace(self, treatment="ln", baseline=baseline).papers(evidence)
            largest = differences.abs() + ROUNDED
            t = stats.t.isf(wide[f"ln_vs_{baseline}"] / 2, PAPER_SEEDS - 1)
            error += largest.reindex(wide.index) / t
        return error

    def _papers_numbers(self, evidence: Evidence) -> pd.DataFrame:
        """Return the paper's numbers, a row a length of ours beyond training; NaN where one is not known."""
        papers = rows(evidence.paper, task=self.task, range_=self.range_, rule=self.rule)
        wide = papers.dropna(subset="value").pivot_table(index="length", columns="variant", values="value")
        _, theirs = self.accuracies(evidence)
        return wide.reindex(index=theirs.columns, columns=["none", "ln", "std", "ln_vs_none", "ln_vs_std"])


def no_test(differences: Float[np.ndarray, " S"]) -> str:
    """Return why there is no test of these differences over seeds; empty where there is one.

    Raises NotTestedError where there is one seed.
    """
    if len(differences) < 2:
        raise NotTestedError(ONE_SEED)
    if np.ptp(differences) <= EQUAL:
        return "all differences equal: no test"
    return ""
