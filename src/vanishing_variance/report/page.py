"""The page, rendered: data in, HTML out, the same bytes for the same data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.claims.verdict import legend
from vanishing_variance.engine.ranges import Range, training_steps
from vanishing_variance.figures import variants
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.markdown import power
from vanishing_variance.harness.runs import ABLATIONS
from vanishing_variance.harness.sections import get_param
from vanishing_variance.report import figures, records
from vanishing_variance.report.answer import QUESTION, answer
from vanishing_variance.report.cells import grouped
from vanishing_variance.report.formats import raised
from vanishing_variance.report.records import Record
from vanishing_variance.report.rendering import TEMPLATES
from vanishing_variance.report.strongest import Evidence
from vanishing_variance.report.tables import Numbered, tables
from vanishing_variance.report.verdicts import board, counts
from vanishing_variance.results import attribution_table, shares_table
from vanishing_variance.results.scale import PAPER_SEEDS, paper_steps

EXPLAINED = "What explains the accuracy (%)"
SHARES = "What interventions recover or reproduce of the lost accuracy (%)"


@dataclass(frozen=True)
class Results:
    """Contents of the page: params.yaml as a document and as its text, the strongest evidence for each claim, the
    contents of tests.csv, paper.csv, explained.csv, shares.csv and, by number, of table<number>.csv, the figures as SVG
    texts by name, and the records by name, the leading one first.
    """

    params: Mapping[str, Any]
    source: str
    evidence: Mapping[str, Evidence]
    tests: pd.DataFrame
    paper: pd.DataFrame
    explained: pd.DataFrame
    interventions: pd.DataFrame
    tables: Numbered
    pictures: Mapping[str, str]
    records: Mapping[str, Record]


def page(results: Results) -> str:
    """Return all results as one HTML file without a script; its figures are files beside it.

    Raises InputError on a parameter that is not one, and where the results are not of the parameters' treatment.
    """
    params, (name, record) = results.params, next(iter(results.records.items()))
    norm = get_param(params, "norm", str)
    if any(norm not in of for number, of in results.tables.items() if number not in ABLATIONS):
        raise InputError(f"params.yaml: norm is {norm!r}, of which metrics/tables has no results: run the study first")
    led = any(found.recorded for found in results.evidence.values())
    lead = record if led else results
    # interventions.md has the rows after the normaliser too
    before = results.interventions[results.interventions["where"] != "after"]
    of_section = {
        section: [figures.figure(one, results.pictures[one]) for one in names]
        for section, names in figures.SECTIONS.items()
    }
    recorded = [figures.recorded(name, *of) for of in record.pictures.items()] if led else []
    shown = {
        "question": QUESTION,
        "answer": answer(results.evidence),
        "lead": (recorded or of_section["curves"])[0],
        "scale": _scale(lead.tests, lead.params),
        "board": board(results.evidence),
        "counts": counts(results.evidence),
        "records": records.table(results.records),
        "legend": [(name, raised(meaning)) for name, meaning in legend()],
        "recorded": recorded[1:],
        "recorded_tables": tables(*_of(record), "record-table") if led else [],
        "tables": tables(*_of(results)),
        "explained": grouped(
            "mechanism", EXPLAINED, attribution_table.NOTE, attribution_table.groups(results.explained)
        ),
        "shares": grouped("interventions", SHARES, shares_table.NOTE, shares_table.groups(before)),
        "figures": of_section,
        "study": _study(params),
        "source": results.source,
        "norm": norm,
    }
    return TEMPLATES.get_template("page.html").render(**shown)


def _of(study: Results | Record) -> tuple[Numbered, str, Mapping[tuple[str, str], int]]:
    """Return the tables of a run or a record, its treatment and its gradient steps."""
    return study.tables, get_param(study.params, "norm", str), _steps(study.params)


def _steps(params: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Return the gradient steps by task and range."""
    tasks, names = get_param(params, "tasks", dict), get_param(params, "ranges", dict)
    return {(task, name): training_steps(params, task, name) for name in names for task in tasks}


def _scale(tests: pd.DataFrame, params: Mapping[str, Any]) -> str:
    """Return the seeds and gradient steps of the first screen's figure, beside the paper's."""
    steps = {
        task: (training_steps(params, task, "short"), paper_steps(task)) for task in get_param(params, "tasks", dict)
    }
    as_paper = all(ours == theirs for ours, theirs in steps.values())
    beside = {task: f" of {theirs:,}" if theirs and not as_paper else "" for task, (_, theirs) in steps.items()}
    said = ", ".join(f"{task} {ours:,}{beside[task]}" for task, (ours, _) in steps.items())
    heading = "the paper’s gradient steps" if as_paper else "gradient steps"
    drawn = tests.query("range == 'short' and temperature == 'plain' and treatment == 'ln' and baseline == 'none'")
    return f"{variants.seeds(drawn['n'])} seeds (the paper: {PAPER_SEEDS}), {heading}: {said}"


def _study(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the run as names and values."""
    blocks, size = get_param(params, "blocks", list[int]), get_param(params, "seeds_per_block", int)
    made = [f"{task} {name} {steps:,}" for (task, name), steps in _steps(params).items()]
    ranges = {name: get_param(params, f"ranges.{name}", Range) for name in get_param(params, "ranges", dict)}
    return [
        ("treatment", f"{get_param(params, 'norm', str)}, compared with none"),
        ("seeds", f"{len(blocks) * size}: {len(blocks)} × {size} (blocks × seeds a block)"),
        ("gradient steps", ", ".join(made)),
        ("training lengths", ", ".join(f"{name} {of.shortest} to {of.longest}" for name, of in ranges.items())),
        ("test lengths", raised(", ".join(map(power, get_param(params, "test.lengths", list[int]))))),
        ("test sequences", f"{get_param(params, 'test.sequences', int):,} a length"),
    ]
