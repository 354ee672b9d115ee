"""What a study of the paper's treatments can also ask for: Tables 1 to 6, gains, claims; from its results alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.claims.table import judged
from vanishing_variance.figures import accuracy as accuracy_figure
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.outputs import Files
from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.explained import INSIDE, beside_accuracy
from vanishing_variance.results.files import TrainingSetup, comparison, explanation
from vanishing_variance.results.runs import RANGES, REFERENCE, TASKS
from vanishing_variance.studies.parameters import PAPERS_NORM
from vanishing_variance.studies.reading import as_runs, by_rule
from vanishing_variance.studies.study import Study

# What is derived from the files in git as quickly as it is read.
UNREAD = (
    *("accuracy.csv", "explained.csv", "mechanism.csv", "summary.json", "verdicts.json"),
    *("tables/paper.csv", "tables/tests.csv"),
)


@dataclass(frozen=True)
class Compared:
    """The frames of metrics/accuracy.csv and metrics/mechanism.csv, of the models of a study, and their training."""

    accuracy: pd.DataFrame
    mechanism: pd.DataFrame
    training: TrainingSetup

    @classmethod
    def of(cls, study: Study, params: Mapping[str, Any], results: pd.DataFrame) -> "Compared":
        """Return the comparison of a study; `params`: `params_of_tables`. Raises InputError."""
        named = as_runs(study, results)
        accuracy = by_rule(named).sort_values(COLUMNS, ignore_index=True)[COLUMNS]
        mechanism = named.rename(columns={"variance": "variance_before"}).reindex(columns=INSIDE)
        return cls(accuracy, mechanism, TrainingSetup.of(params))

    def files(self) -> Files:
        """Return Tables 1 to 6, gains, what explains accuracy, and the verdicts that these results decide."""
        claims = [claim for claim in CLAIMS if claim.rule.recorded]
        evidence = Evidence(
            accuracy=self.accuracy,
            mechanism=beside_accuracy(self.mechanism, self.accuracy),
            paper=read_csv(REFERENCE),
            training=self.training,
        )
        files = {
            **comparison(self.accuracy, None, evidence.paper, PAPERS_NORM, self.training),
            **explanation(self.mechanism, self.accuracy, self.training),
            **judged(claims, evidence),
        }
        return {name: content for name, content in files.items() if name not in UNREAD}

    def figures(self) -> Iterator[tuple[str, Drawing]]:
        """Yield accuracy against length by the name of its file, a figure a range."""
        for name in RANGES:
            means = accuracy_figure.data(self.accuracy, TASKS, name)
            if len(means):
                papers = accuracy_figure.papers(read_csv(REFERENCE), name)
                lengths = self.training.shortest[name], self.training.longest[name]
                steps = {task: self.training.steps[task, name] for task in TASKS}
                stem = "accuracy" if name == "short" else f"accuracy-{name}"
                yield stem, accuracy_figure.draw(means, papers, name, lengths, steps)
