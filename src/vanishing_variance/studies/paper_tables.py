"""What a study of the paper's treatments can also ask for: Tables 1 to 6, gains, claims; from its results alone."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import OF_STUDY, judged
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.harness.frames import Files, read_csv
from vanishing_variance.results.files import TrainingSetup, comparison
from vanishing_variance.results.runs import REFERENCE, line_of
from vanishing_variance.results.schema import beside_accuracy, by_rule
from vanishing_variance.studies.parameters import PAPERS_NORM
from vanishing_variance.studies.study import Study

# What is derived from the files in git as quickly as it is read; parts.md any study has, where they are measured.
UNREAD = ("summary.json", "verdicts.json", "tables/tests.csv", "parts.md")


def evidence_of(study: Study, params: Mapping[str, Any], results: pd.DataFrame) -> Evidence:
    """Return what the tables and claims of a study rest on; `params`: `params_of_tables`. Raises InputError."""
    names = {line: line_of(study.own(line)["norm"], study.range_of(line)) for line in study.names}
    named = results.assign(line=results["line"].map(names))
    return Evidence(
        accuracy=by_rule(named),
        mechanism=beside_accuracy(named),
        paper=read_csv(REFERENCE),
        training=TrainingSetup.of(params, list(names.values())),
    )


def files(evidence: Evidence) -> Files:
    """Return Tables 1 to 6, gains, and the verdicts that these results decide."""
    found = {
        **comparison(evidence.accuracy, None, evidence.paper, PAPERS_NORM, evidence.training),
        **claims_of(evidence),
    }
    return {name: content for name, content in found.items() if name not in UNREAD}


def claims_of(evidence: Evidence) -> Files:
    """Return the verdicts that results of a study decide."""
    return judged([claim for claim in CLAIMS if claim.statistic in OF_STUDY], evidence)
