"""What a study of the paper's treatments can also ask for: Tables 1 to 6, gains, claims; from its results alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.claims.table import judged
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.outputs import Files
from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.files import TrainingSetup, comparison, mechanism
from vanishing_variance.results.inside import INSIDE, beside_accuracy
from vanishing_variance.results.runs import REFERENCE
from vanishing_variance.studies.parameters import PAPERS_NORM
from vanishing_variance.studies.reading import as_runs, by_rule
from vanishing_variance.studies.results import AFTER
from vanishing_variance.studies.study import Study

# What is derived from the files in git as quickly as it is read.
UNREAD = ("accuracy.csv", "mechanism.csv", "summary.json", "verdicts.json", "tables/tests.csv")


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
        for name in AFTER:
            mechanism[f"{name}_after"] = mechanism[f"{name}_after"].fillna(mechanism[f"{name}_before"])
        return cls(accuracy, mechanism, TrainingSetup.of(params))

    def files(self) -> Files:
        """Return Tables 1 to 6, gains, those at equal attention, and the verdicts that these results decide."""
        claims = [claim for claim in CLAIMS if claim.rule.recorded]
        evidence = Evidence(
            accuracy=self.accuracy,
            mechanism=beside_accuracy(self.mechanism, self.accuracy),
            paper=read_csv(REFERENCE),
            training=self.training,
        )
        files = {
            **comparison(self.accuracy, None, evidence.paper, PAPERS_NORM, self.training),
            **mechanism(self.mechanism, self.accuracy, self.training),
            **judged(claims, evidence),
        }
        return {name: content for name, content in files.items() if name not in UNREAD}
