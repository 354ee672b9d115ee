"""The record that the page leads with beside other records: the same gains, of another network or training."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.claims.verdict import NOT_TESTED
from vanishing_variance.harness.dotted import flattened
from vanishing_variance.harness.runs import TASKS
from vanishing_variance.harness.sections import get_param
from vanishing_variance.report.cells import Cell, Row, Table
from vanishing_variance.report.formats import MISSING, interval, number
from vanishing_variance.report.groups import in_few_words
from vanishing_variance.report.strongest import TRAINING, Study
from vanishing_variance.report.tables import Numbered

TITLE = "Gains in accuracy by record (percentage points)"
# What decides a model that is trained on up to 16.
KEYS = (
    *TRAINING,
    *(f"tasks.{task}.{of}" for task in TASKS for of in ("data", "steps.short", "training")),
    "ranges.short",
)
# It changes the last bits alone.
SPARED = "training.seeds_per_process"


@dataclass(frozen=True)
class Record:
    """Contents of a record: claims.json, params.yaml, tests.csv, paper.csv, tables by number, figures (SVG) by name."""

    study: Study
    tests: pd.DataFrame
    paper: pd.DataFrame
    tables: Numbered
    pictures: Mapping[str, str]

    @property
    def params(self) -> Mapping[str, Any]:
        """Its params.yaml as a document."""
        return self.study.params


def table(records: Mapping[str, Record]) -> Table:
    """Return gains in accuracy and distances from the paper's Tables 1 to 3: a column a record, the leading one first.

    The last column is the paper's. The note says which parameters of the others differ from the leading one's.
    """
    [(lead, first), *others] = records.items()
    studies = [record.study for record in records.values()]
    gains = [
        _gains(key, claim, studies)
        for key, claim in first.study.claims.items()
        if claim["unit"] == "pp" and in_few_words(key, claim)[0] == "accuracy"
    ]
    distances = [
        (f"Table {of}", [*(_distance(record.paper, of) for record in records.values()), Cell("")]) for of in (1, 2, 3)
    ]
    differences = "; ".join(f"{name} has {_differences(record.study, first.study)}" for name, record in others)
    return Table(
        "records",
        TITLE,
        f"Over the lengths beyond training, by the rules above; n seeds, 95% intervals. Unlike {lead}, {differences}.",
        [*records, "paper’s"],
        [("accuracy", gains), ("mean absolute difference from the paper’s numbers", distances)],
    )


def _gains(key: str, claim: Mapping[str, Any], studies: list[Study]) -> Row:
    cells = [_gain(study.claims.get(key)) for study in studies]
    return in_few_words(key, claim)[1], [*cells, Cell(number(claim["paper"], "+.1f"))]


def _gain(claim: Mapping[str, Any] | None) -> Cell:
    if claim is None or claim["verdict"] == NOT_TESTED or claim["ours"] is None:
        return Cell(MISSING)
    bounds = interval(claim["low"], claim["high"], "+.1f")
    return Cell(f"{number(claim['ours'], '+.1f')} [{bounds}], n = {claim['n']}: {claim['verdict']}")


def _distance(paper: pd.DataFrame, of: int) -> Cell:
    return Cell(number(paper.loc[paper["table"] == of, "difference"].abs().mean(), ".1f"))


def _differences(study: Study, lead: Study) -> str:
    ours, theirs = (flattened({key: get_param(of.params, key, Any) for key in KEYS}) for of in (study, lead))
    different = [key for key in ours | theirs if ours.get(key) != theirs.get(key) and key != SPARED]
    said = [f"{key} {json.dumps(ours.get(key))} instead of {json.dumps(theirs.get(key))}" for key in different]
    return ", ".join(said) or "the same parameters"
