"""The raw results that the claims are judged by."""

from collections.abc import Collection
from dataclasses import dataclass, field

import pandas as pd

from vanishing_variance.claims.verdict import NotTestedError
from vanishing_variance.harness.numbers import power
from vanishing_variance.results.arms import Arms, Pair, percent_by_length
from vanishing_variance.results.columns import rows
from vanishing_variance.results.files import TrainingSetup
from vanishing_variance.results.paper import BEHIND, PAPER_LONGEST, PAPER_STEPS
from vanishing_variance.results.runs import line_of, norm_of, range_of


@dataclass(frozen=True)
class Evidence:
    """Measurements, and the paper's numbers.

    `accuracy`, of `by_rule`; `mechanism`, the inside of every model beside its accuracy (`beside_accuracy`); `paper`
    (results/paper.csv); the `training` of the models.

    Of a study these are empty: `interventions`, accuracies by seed (metrics/interventions); `exponents` of Proposition
    1 a feature (plots/proposition); `fits` of Figure 1 a component (plots/figures/figure1) with the `model`; the
    training `losses` of the short range (plots/data). `diverged`: tasks and lines of which a training did.
    """

    accuracy: pd.DataFrame
    mechanism: pd.DataFrame
    paper: pd.DataFrame
    training: TrainingSetup
    interventions: pd.DataFrame = field(default_factory=pd.DataFrame)
    exponents: pd.DataFrame = field(default_factory=pd.DataFrame)
    fits: pd.DataFrame = field(default_factory=pd.DataFrame)
    losses: pd.DataFrame = field(default_factory=pd.DataFrame)
    diverged: Collection[tuple[str, str]] = ()

    def arms(self, pair: Pair) -> Arms:
        """Return the accuracies of a pair. Raises NotTestedError where it has no seed or no length beyond training."""
        lines = (pair.line, pair.baseline)
        of_task = rows(self.accuracy, task=pair.task)
        absent = [line for line in lines if line not in set(of_task["line"])]
        for line in absent:
            if (pair.task, line) in self.diverged:
                said = f"a training of {pair.task} on the {range_of(line)} range with {norm_of(line)} diverged"
                raise NotTestedError(f"{said}, or its test had too little memory")
        if absent:
            said = f"{pair.task} was not trained on the {range_of(pair.line)} range with"
            raise NotTestedError(f"{said} {' and '.join(map(norm_of, absent))}")
        longest = self.training.longest[pair.line]
        ours, theirs = (rows(of_task, line=line, rule=pair.rule) for line in lines)
        arms = Arms(ours, theirs, longest, self.training.sequences, pair.rule)
        if arms.gains.empty or max(arms.lengths) <= longest:
            said = f"no seed of {pair.task} with {' and '.join(map(norm_of, lines))} alike was tested"
            raise NotTestedError(f"{said} beyond the {longest} of training by the rule {pair.rule}")
        return arms

    def behind(self, task: str, range_: str) -> str:
        """Return how the models of a range are behind the paper's: their steps and baseline; empty where they are not.

        The baseline is `none` at the shortest training length whose number in the paper survives: 2^4 but for Table 5,
        which has lost those below 2^7. Without one steps alone decide.
        """
        none = line_of("none", range_)
        steps = self.training.steps_on(task, range_)
        papers_steps = PAPER_STEPS[task]
        said = f"{steps:,} of {papers_steps:,} steps"
        below = steps < papers_steps
        cells = rows(self.paper, task=task, line=none, rule="last", statistic="accuracy")
        ours = percent_by_length(rows(self.accuracy, task=task, line=none, rule="last")).mean()
        papers = cells.set_index("length")["value"].dropna()
        both = papers.index.intersection(ours.index)
        if len(both) and (length := both.min()) <= PAPER_LONGEST[range_]:
            below |= papers[length] - ours[length] > BEHIND
            said += f", baseline {ours[length]:.1f}% at {power(length)} (the paper's {papers[length]:.1f}%)"
        return said if below else ""
