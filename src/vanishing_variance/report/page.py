"""The page and its side file, rendered: data in, HTML out, the same bytes for the same data."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.core.config import get_param
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.ranges import Range, training_steps
from vanishing_variance.figures import variants
from vanishing_variance.report import curves, figures, records
from vanishing_variance.report.answer import QUESTION, answer
from vanishing_variance.report.cells import grouped
from vanishing_variance.report.chart import chart
from vanishing_variance.report.formats import raised
from vanishing_variance.report.records import Record
from vanishing_variance.report.rendering import TEMPLATES
from vanishing_variance.report.strongest import Evidence
from vanishing_variance.report.tables import Numbered, tables
from vanishing_variance.report.verdicts import board, counts
from vanishing_variance.study import attribution_table, shares_table
from vanishing_variance.study.markdown import power
from vanishing_variance.study.runs import ABLATIONS
from vanishing_variance.study.scale import PAPER_SEEDS, paper_steps
from vanishing_variance.study.verdict import legend

EXPLAINED = "What explains the accuracy (%)"
SHARES = "What interventions recover or reproduce of the lost accuracy (%)"
# Of the graph: other scripts note their time as well.
STAGES = (
    *("check", "generate", "train", "temperature", "evaluate", "ttest", "mechanism", "capacity", "proposition"),
    *("interventions", "figures", "probe", "figure1", "claims", "report"),
)


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


@dataclass(frozen=True)
class Page:
    """The page as HTML; its fingerprint tells it from the page of other results, and stands in it."""

    html: str
    fingerprint: str


def page(results: Results) -> Page:
    """Return all results as one HTML file that needs no other.

    Raises InputError on a parameter that is not one, and where the results are not of the parameters' treatment.
    """
    params, record = results.params, next(iter(results.records.values()))
    norm = get_param(params, "norm", str)
    if any(norm not in of for number, of in results.tables.items() if number not in ABLATIONS):
        raise InputError(f"params.yaml: norm is {norm!r}, of which metrics/tables has no results: run the study first")
    led = any(found.recorded for found in results.evidence.values())
    lead = record if led else results
    # interventions.md has the rows after the normaliser too
    before = results.interventions[results.interventions["where"] != "after"]
    shown = {
        "question": QUESTION,
        "answer": answer(results.evidence),
        "panels": curves.panels(lead.tests, lead.paper, lead.params),
        "size": (curves.WIDTH, curves.HEIGHT, curves.LEFT, curves.RIGHT, curves.TOP, curves.BOTTOM),
        "scale": _scale(lead.tests, lead.params),
        "board": board(results.evidence),
        "counts": counts(results.evidence),
        "records": records.table(results.records),
        "legend": [(name, raised(meaning)) for name, meaning in legend()],
        "recorded": [figures.recorded(*of) for of in enumerate(record.pictures)] if led else [],
        "recorded_tables": tables(*_of(record), "record-table") if led else [],
        "tables": tables(*_of(results)),
        "explained": grouped(
            "mechanism", EXPLAINED, attribution_table.NOTE, attribution_table.groups(results.explained)
        ),
        "shares": grouped("interventions", SHARES, shares_table.NOTE, shares_table.groups(before)),
        "accuracies": chart(results.tests, results.paper, params),
        "figures": {
            section: [figures.figure(name, results.pictures[name]) for name in names]
            for section, names in figures.SECTIONS.items()
        },
        "study": _study(params),
        "source": results.source,
        "norm": norm,
    }
    template = TEMPLATES.get_template("page.html")
    fingerprint = hashlib.sha256(template.render(**shown, fingerprint="").encode()).hexdigest()[:16]
    return Page(template.render(**shown, fingerprint=fingerprint), fingerprint)


def side(fingerprint: str, machine: Mapping[str, Any], times: Sequence[Mapping[str, Any]]) -> str:
    """Return the side file of the page with this fingerprint: what differs from run to run.

    `machine` has device, cores and revision; `times` are stages with their wall time in seconds.
    """
    kinds: dict[str, list[float]] = defaultdict(list)
    times = [one for one in times if one["stage"].partition("-")[0] in STAGES]
    for one in times:
        kinds[one["stage"].partition("-")[0]].append(one["seconds"])
    longest = sorted(kinds.items(), key=lambda kind: (-sum(kind[1]), kind[0]))
    return TEMPLATES.get_template("run.html").render(
        fingerprint=fingerprint, machine=machine, times=times, kinds=longest, total=sum(map(sum, kinds.values()))
    )


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
    drawn = curves.shown(tests)
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
