"""The raw results that the claims are judged by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.claims.verdict import BEHIND
from vanishing_variance.harness.markdown import power
from vanishing_variance.results.accuracy import by_seed
from vanishing_variance.results.scale import PAPER_LONGEST, paper_steps


@dataclass(frozen=True)
class Evidence:
    """Measurements, and the paper's numbers.

    `accuracy`, the raw accuracies (metrics/accuracy.csv); `mechanism`, the inside of every model beside its accuracy
    (metrics/mechanism.csv); `interventions`, their accuracies by seed (runs/interventions); `exponents` of Proposition
    1 a feature (plots/proposition); `fits` of Figure 1 a component (plots/figures/figure1) with the `model`; `capacity`
    (metrics/capacity.json) by task; the training `losses` of the short range (plots/data); `paper` (study/paper.csv);
    the `longest` training length by range; the gradient `steps` by task and range; the `root` of the random streams. Of
    a record, interventions, exponents, fits, capacity and losses are empty.
    """

    accuracy: pd.DataFrame
    mechanism: pd.DataFrame
    interventions: pd.DataFrame
    exponents: pd.DataFrame
    fits: pd.DataFrame
    capacity: Mapping[str, Any]
    losses: pd.DataFrame
    paper: pd.DataFrame
    longest: Mapping[str, int]
    steps: Mapping[tuple[str, str], int]
    root: int

    def missing(self, task: str, range_: str, *norms: str) -> str:
        """Return why these normalisers cannot be compared beyond training; empty where they can."""
        of = self.accuracy.query("task == @task and range == @range_")
        absent = [norm for norm in norms if norm not in set(of["norm"])]
        if absent or of.empty:
            return f"{task} was not trained on the {range_} range with {' and '.join(absent) or 'anything'}"
        if norms and not set.intersection(*(set(of.loc[of["norm"] == norm, "seed"]) for norm in norms)):
            return f"no seed of {task} was trained on the {range_} range with {' and '.join(norms)} alike"
        longest = self.longest[range_]
        return "" if (of["length"] > longest).any() else f"no test length is beyond the {longest} of training"

    def behind(self, task: str, range_: str) -> str:
        """Return how these models are behind the paper's: their steps and baseline; empty where they are not.

        The baseline is the mean accuracy of `none`, plain softmax, at the shortest training length whose number in
        the paper survives: 2^4 but for Table 5, which has lost those below 2^7. Where none does, steps alone decide.
        """
        steps, papers_steps = self.steps[task, range_], paper_steps(task)
        said, below = f"{steps:,} of {papers_steps:,} steps", False
        ours, theirs = by_seed(self.accuracy, task, range_, "none", "plain").mean(), self._baseline(task, range_)
        if both := sorted(set(ours.index) & set(theirs.index)):
            baseline, papers = ours[both[0]], theirs[both[0]]
            below = papers - baseline > BEHIND
            said += f", baseline {baseline:.1f}% at {power(both[0])} (the paper's {papers:.1f}%)"
        return said if below or steps < papers_steps else ""

    def _baseline(self, task: str, range_: str) -> pd.Series:
        """Return the paper's accuracies (%) of `none`, plain softmax, by training length."""
        of = self.paper.query("temperature == 'plain' and variant == 'none' and quantity == 'accuracy_pct'")
        of = of[(of["task"] == task) & (of["range"] == range_) & (of["length"] <= PAPER_LONGEST[range_])]
        return of.set_index("length")["value"].dropna()

    def intervened(self, task: str) -> pd.DataFrame:
        """Return the interventions in models of the short range without a normaliser."""
        return self.interventions.query("task == @task and range == 'short' and norm == 'none'")

    def inside(self, task: str, norm: str) -> pd.DataFrame:
        """Return the models of one variant of the short range, at the test lengths beyond training."""
        of = self.mechanism.query("task == @task and range == 'short' and norm == @norm")
        return of[of["length"] > self.longest["short"]].sort_values(["seed", "length"])
