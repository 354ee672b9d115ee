"""The page, rendered: data in, HTML out, the same bytes for the same data."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from PIL.PngImagePlugin import PngImageFile

from vanishing_variance.claims.verdict import AFTER_RESULTS, MEANINGS, NOT_COMPARABLE, NOT_TESTED, shown
from vanishing_variance.engine.ranges import ranges_of, training_steps
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.sections import get_param
from vanishing_variance.report.strongest import Results, strongest
from vanishing_variance.report.tables import counts, is_papers, ours, paper_table, papers, raised
from vanishing_variance.results.paper import PAPER_SEEDS, PAPER_STEPS, of_paper, trained_otherwise
from vanishing_variance.results.runs import PAPER_TABLES, TASKS
from vanishing_variance.results.tables import numbers, seeds

TEMPLATES = Environment(
    loader=PackageLoader("vanishing_variance.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
# Verdicts that say nothing of a cause.
NOT_JUDGED = (NOT_COMPARABLE, NOT_TESTED)
TRAIN_LONG = "dvc exp run -S 'train_on=[short,long]'"


@dataclass(frozen=True)
class Figure:
    """A picture at an address; `title` is its subject, also for who cannot see it, `caption` says n and the band."""

    address: str
    title: str
    caption: str


def read_figure(path: Path, page: Path) -> Figure:
    """Return a figure of `figures.drawing.write_figure`, its address relative to the page.

    Raises InputError when it is missing, damaged or carries no words.
    """
    address = Path(os.path.relpath(path, page.parent)).as_posix()
    try:
        with PngImageFile(path) as picture:
            words = picture.text
        return Figure(address, str(words["Title"]), str(words["Description"]))
    except (OSError, SyntaxError, KeyError) as problem:
        raise InputError(f"{path}: cannot be read as a figure: {problem}; draw it again, or git checkout it") from None


def page(
    pictures: Mapping[str, Figure],
    figures: Mapping[str, Sequence[Figure]],
    points: Sequence[Markup],
    run: Results,
    paper_scale: Results,
    paper: pd.DataFrame,
    source: str,
) -> str:
    """Return all results as one HTML file without a script; its figures are files beside it.

    `pictures`: README's by name, `answer`, `schedules`; `figures`: those of `run`, whose first one (causes) stands
    apart, and of `paper_scale`, the study that the run is held against; `points`: README's answer (`readme.points`);
    `paper`: the paper's numbers; `source`: the text of params.yaml. Raises InputError on a parameter that is not one,
    and where the results are of another treatment.
    """
    norm = get_param(run.params, "norm", str)
    if norm not in set(run.tests["line"]):
        raise InputError(f"params.yaml: norm is {norm!r}, of which metrics/tables has no results: run the study first")
    scale, is_reduced = _scale(run)
    evidence = strongest(run, paper_scale)
    claims = [found.claim for found in evidence.values()]
    causes = [key for key in evidence if key.startswith(("cause-", "attribution-"))]
    return TEMPLATES.get_template("page.html").render(
        pictures=pictures,
        points=points,
        evidence=evidence,
        papers_claims=[claim for claim in claims if is_papers(claim)],
        our_claims=[claim for claim in claims if not is_papers(claim)],
        causes=causes,
        judged_causes=[key for key in causes if evidence[key].claim["verdict"] not in NOT_JUDGED],
        counts=counts,
        figures=figures,
        paper_scale=paper_scale,
        run=run,
        paper_scale_tables=_tables(paper_scale, paper),
        own_tables=_tables(run, paper),
        scale=scale,
        is_reduced=is_reduced,
        meanings=MEANINGS,
        late=AFTER_RESULTS,
        shown=shown,
        source=source,
        ours=ours,
        papers=papers,
        raised=raised,
    )


def require_compared(params: Mapping[str, Any], compared: Mapping[str, Any]) -> None:
    """Raise InputError where params.yaml was edited since results were compared, with values `compared` by key."""
    for key, before in compared.items():
        if get_param(params, key, Any) != before:
            raise InputError(f"params.yaml: {key} was edited since results were compared; put it back, or dvc repro")


def _tables(results: Results, paper: pd.DataFrame) -> list[tuple[str, Markup]]:
    """Return the titles and Tables 1 to 6, as many as there are."""
    params = results.params
    norm = get_param(params, "norm", str)
    tables = []
    for number, table in numbers(results.tests, norm, paper).items():
        task, range_ = PAPER_TABLES[number]
        made = of_paper(task, training_steps(params, task, range_), range_, trained_otherwise(params))
        title = f"Table {number}. {task}, trained on the {range_} range, after {made}, n = {seeds(table)} seeds"
        tables.append((title, paper_table(number, table, norm)))
    return tables


def _scale(run: Results) -> tuple[list[str], bool]:
    """Return the seeds and gradient steps of a run beside the paper's, and whether any of them is smaller."""
    params, seeds = run.params, int(run.tests["n"].max())
    lines = [f"{seeds} seeds (the paper: {PAPER_SEEDS})"]
    is_reduced = seeds < PAPER_SEEDS
    ranges = ranges_of(params)
    for task, range_ in product(TASKS, ranges):
        steps = training_steps(params, task, range_)
        lines.append(f"{task}, {range_} range: {of_paper(task, steps, range_, trained_otherwise(params))}")
        is_reduced |= steps < PAPER_STEPS[task]
    if "long" not in ranges:
        lines.append(f"long range: not trained (Tables 4 and 5); to train it, too: {TRAIN_LONG}")
    return lines, is_reduced
