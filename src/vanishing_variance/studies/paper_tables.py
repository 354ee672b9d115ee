"""What a study of the paper's treatments can also ask for: Tables 1 to 6, gains, claims; from its results alone."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import judged
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.outputs import Files
from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.equal_attention import markdown, split
from vanishing_variance.results.files import TrainingSetup, comparison
from vanishing_variance.results.inside import INSIDE, beside_accuracy
from vanishing_variance.results.runs import REFERENCE
from vanishing_variance.studies.parameters import PAPERS_NORM
from vanishing_variance.studies.reading import by_rule
from vanishing_variance.studies.results import AFTER
from vanishing_variance.studies.study import Study

# What is derived from the files in git as quickly as it is read.
UNREAD = ("accuracy.csv", "summary.json", "verdicts.json", "tables/tests.csv")


def evidence_of(study: Study, params: Mapping[str, Any], results: pd.DataFrame) -> Evidence:
    """Return what the tables and claims of a study rest on; `params`: `params_of_tables`. Raises InputError."""
    norms = {line: study.own(line)["norm"] for line in study.names}
    named = results.assign(range=results["line"].map(study.range_of), norm=results["line"].map(norms))
    accuracy = by_rule(named).sort_values(COLUMNS, ignore_index=True)[COLUMNS]
    inside = named.rename(columns={"variance": "variance_before"}).reindex(columns=INSIDE)
    for name in AFTER:
        inside[f"{name}_after"] = inside[f"{name}_after"].fillna(inside[f"{name}_before"])
    return Evidence(
        accuracy=accuracy,
        mechanism=beside_accuracy(inside, accuracy),
        paper=read_csv(REFERENCE),
        training=TrainingSetup.of(params),
    )


def files(evidence: Evidence) -> Files:
    """Return Tables 1 to 6, gains, those at equal attention, and the verdicts that these results decide."""
    found = {
        **comparison(evidence.accuracy, None, evidence.paper, PAPERS_NORM, evidence.training),
        "equal_attention.md": markdown(split(evidence.mechanism, evidence.training.longest)),
        **claims_of(evidence),
    }
    return {name: content for name, content in found.items() if name not in UNREAD}


def claims_of(evidence: Evidence) -> Files:
    """Return the verdicts that results of a study decide."""
    return judged([claim for claim in CLAIMS if claim.rule.recorded], evidence)
