"""The raw results that the claims are judged by."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.claims.verdict import NotTestedError
from vanishing_variance.harness.numbers import power
from vanishing_variance.results.accuracy import by_seed, rows
from vanishing_variance.results.compare.pairs import Pair
from vanishing_variance.results.files import TrainingSetup
from vanishing_variance.results.scale import BEHIND, PAPER_LONGEST, PAPER_STEPS


@dataclass(frozen=True)
class Evidence:
    """Measurements, and the paper's numbers.

    `accuracy`, the raw accuracies (metrics/accuracy.csv); `mechanism`, the inside of every model beside its accuracy
    (`beside_accuracy`); `paper` (results/paper.csv); the `training` of the models.

    Of a study these are empty: `interventions`, accuracies by seed (metrics/interventions); `exponents` of Proposition
    1 a feature (plots/proposition); `fits` of Figure 1 a component (plots/figures/figure1) with the `model`; the
    training `losses` of the short range (plots/data).
    """

    accuracy: pd.DataFrame
    mechanism: pd.DataFrame
    paper: pd.DataFrame
    training: TrainingSetup
    interventions: pd.DataFrame = field(default_factory=pd.DataFrame)
    exponents: pd.DataFrame = field(default_factory=pd.DataFrame)
    fits: pd.DataFrame = field(default_factory=pd.DataFrame)
    losses: pd.DataFrame = field(default_factory=pd.DataFrame)

    def require(self, tasks: Sequence[str], range_: str, *norms: str, rule: str = "last") -> None:
        """Raise NotTestedError where these normalisers cannot be compared beyond training by a rule."""
        missing = [self._missing(task, range_, norms, rule) for task in tasks]
        said = "; ".join(filter(None, missing))
        if said:
            raise NotTestedError(said)

    def _missing(self, task: str, range_: str, norms: Sequence[str], rule: str) -> str:
        accuracy = rows(self.accuracy, task=task, range_=range_)
        trained = {norm: set(rows(accuracy, norm=norm)["seed"]) for norm in norms}
        absent = [norm for norm, seeds in trained.items() if not seeds]
        if absent:
            return f"{task} was not trained on the {range_} range with {' and '.join(absent)}"
        if not set.intersection(*trained.values()):
            return f"no seed of {task} was trained on the {range_} range with {' and '.join(norms)} alike"
        if rows(accuracy, rule=rule).empty:
            return f"{task} was not tested by the rule {rule}"
        longest = self.training.longest[range_]
        if accuracy["length"].max() <= longest:
            return f"no test length is beyond the {longest} of training"
        return ""

    def beyond(self, pair: Pair) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the accuracies of a pair beyond training: a row a seed that both have, a column a length."""
        return pair.accuracies(self.accuracy, self.training.longest[pair.range_])

    def gains(self, pair: Pair) -> Float[np.ndarray, " S"]:
        """Return the mean difference over all lengths beyond training, in percentage points, for each of S seeds."""
        ours, theirs = self.beyond(pair)
        gains = ours.mean(axis=1) - theirs.mean(axis=1)
        return gains.to_numpy()

    def behind(self, task: str, range_: str) -> str:
        """Return how these models are behind the paper's: their steps and baseline; empty where they are not.

        The baseline is `none` at the shortest training length whose number in the paper survives: 2^4 but for Table 5,
        which has lost those below 2^7. Without one steps alone decide.
        """
        steps = self.training.steps[task, range_]
        papers_steps = PAPER_STEPS[task]
        said = f"{steps:,} of {papers_steps:,} steps"
        below = steps < papers_steps
        cells = rows(self.paper, task=task, range_=range_, rule="last", variant="none", quantity="accuracy_pct")
        ours = by_seed(self.accuracy, task, range_, "none", "last").mean()
        papers = cells.set_index("length")["value"].dropna()
        both = papers.index.intersection(ours.index)
        if len(both) and (length := both.min()) <= PAPER_LONGEST[range_]:
            below |= papers[length] - ours[length] > BEHIND
            said += f", baseline {ours[length]:.1f}% at {power(length)} (the paper's {papers[length]:.1f}%)"
        return said if below else ""

    def intervened(self, task: str) -> pd.DataFrame:
        """Return the interventions in models of the short range without a normaliser."""
        return rows(self.interventions, task=task, range_="short", norm="none")

    def inside(self, task: str, norm: str) -> pd.DataFrame:
        """Return the models of one variant of the short range, at the test lengths beyond training."""
        models = rows(self.mechanism, task=task, range_="short", norm=norm)
        beyond = models[models["length"] > self.training.longest["short"]]
        return beyond.sort_values(["seed", "length"])
