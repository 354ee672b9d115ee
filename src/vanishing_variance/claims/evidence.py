"""The raw results that the claims are judged by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.results import beyond_training, by_seed
from vanishing_variance.seeding import stream
from vanishing_variance.statistics.paired import Comparison, paired

# The paper's longest training length by range.
TRAINED = {"short": 16, "long": 256}


@dataclass(frozen=True)
class Evidence:
    """What was measured, and the paper's numbers.

    `accuracy`, the raw accuracies (metrics/accuracy.csv); `mechanism`, the inside of every model beside its accuracy
    (metrics/mechanism.csv); `exponents` of Proposition 1 a feature (plots/proposition-exponents.csv); `fits` of Figure
    1 a component (plots/figure1-fits.csv) with the `model`, or None; `capacity` (metrics/capacity.json) by task;
    `paper` (reference/paper.csv); the `longest` training length by range; the `root` of the random streams.
    """

    accuracy: pd.DataFrame
    mechanism: pd.DataFrame
    exponents: pd.DataFrame | None
    fits: pd.DataFrame | None
    capacity: Mapping[str, Any]
    paper: pd.DataFrame
    longest: Mapping[str, int]
    root: int

    def has(self, task: str, range_: str, *norms: str) -> bool:
        """Whether these normalisers were trained and tested, at a length beyond training at least."""
        of = self.accuracy.query("task == @task and range == @range_")
        return set(norms) <= set(of["norm"]) and bool((of["length"] > self.longest.get(range_, 0)).any())

    def gain(self, task: str, range_: str, treatment: str, baseline: str, temperature: str) -> Comparison:
        """The mean accuracy over the test lengths beyond training, paired by seed, in percentage points."""
        ours, theirs = (
            beyond_training(self.accuracy, task, range_, norm, temperature, self.longest[range_])
            for norm in (treatment, baseline)
        )
        rng = stream(self.root, "bootstrap", task, range_, treatment, baseline, temperature, "beyond training")
        return paired(ours.loc[theirs.index].to_numpy(), theirs.to_numpy(), rng)

    def ahead(self, task: str, range_: str, treatment: str, baseline: str, temperature: str) -> tuple[int, int]:
        """At how many of the test lengths beyond training the treatment's mean is above the baseline's; of how many."""
        ours, theirs = (by_seed(self.accuracy, task, range_, norm, temperature) for norm in (treatment, baseline))
        differences = (ours - theirs).mean()
        differences = differences[differences.index > self.longest[range_]]
        return int((differences > 0).sum()), len(differences)

    def papers_gain(self, task: str, range_: str, treatment: str, baseline: str, temperature: str) -> float | None:
        """The paper's mean difference in percentage points over the lengths beyond training of which it has numbers."""
        of, trained = self.paper.dropna(subset="value"), TRAINED[range_]
        of = of[(of["task"] == task) & (of["train_max_length"] == trained) & (of["length"] > trained)]
        of = of[of["adaptive_temperature"] == int(temperature != "plain")]
        by_variant = {str(name): part.set_index("length")["value"] for name, part in of.groupby("variant")}
        if baseline == "none" and treatment == "std" and "std" in by_variant:
            return float(by_variant["std"].mean())
        if treatment == "ln" and baseline == "std" and {"ln", "none", "std"} <= set(by_variant):
            return float((by_variant["ln"] - by_variant["none"] - by_variant["std"]).mean())
        if {treatment, baseline} <= set(by_variant):
            return float((by_variant[treatment] - by_variant[baseline]).dropna().mean())
        return None

    def inside(self, task: str, norm: str) -> pd.DataFrame:
        """The models of one variant of the short range, at the test lengths beyond training."""
        of = self.mechanism.query("task == @task and range == 'short' and norm == @norm")
        return of[of["length"] > self.longest["short"]].sort_values(["seed", "length"])

    def per_seed(self, task: str, norm: str, values: pd.Series) -> np.ndarray:
        """The mean of `values`, a number a row of `inside`, over lengths, for each seed."""
        of = self.inside(task, norm)
        return values.groupby(of["seed"]).mean().to_numpy()
