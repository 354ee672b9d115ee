"""The answer in README.md, between two markers: accuracies under five treatments and the counts of verdicts; pictures.

`python -m vanishing_variance.report.readme` writes both, and the page's pictures of the study `paper-scale`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures import accuracy as accuracy_figure
from vanishing_variance.figures import schedules
from vanishing_variance.figures.answer import draw
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import read_document, read_text, write_text
from vanishing_variance.harness.numbers import MISSING, power, table
from vanishing_variance.harness.paths import METRICS, PLOTS
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import check
from vanishing_variance.report.schedules import read_schedules
from vanishing_variance.report.strongest import Results, strongest
from vanishing_variance.report.studies import TREATMENTS, read_answer, read_paper_scale
from vanishing_variance.report.tables import counts, is_papers, raised
from vanishing_variance.results.arms import BEYOND, SHOWN
from vanishing_variance.results.columns import rows
from vanishing_variance.results.runs import TASKS, line_of, range_of

BEGIN, END = "<!-- answer: python -m vanishing_variance.report.readme -->", "<!-- end of answer -->"
README = Path("README.md")
# Of the table, by length or scope.
HEADS: Mapping[Any, str] = {**{length: power(length) for length in SHOWN}, BEYOND: "mean"}


def main() -> None:
    """Write the README's table and picture, and the page's, of studies of `report.studies`."""
    params = read_yaml(PATH)
    check(params)
    ours = Results(read_document(METRICS / "claims.json"), params)
    paper_scale, paper_scale_evidence = read_paper_scale(params)
    claims = [found.claim for found in strongest(ours, paper_scale).values()]
    lengths = get_param(paper_scale.params, "ranges.short", Range)
    means = read_answer(params)
    text = rewritten(read_text(README), answer(means, claims))
    trained = (lengths.shortest, lengths.longest)
    write_figure(PLOTS / "readme" / "answer", draw(means, trained))
    write_figure(PLOTS / "readme" / "schedules", schedules.draw(read_schedules(params)))
    for stem, drawing in accuracies(paper_scale_evidence):
        write_figure(PLOTS / "readme" / stem, drawing)
    write_text(README, text)


def accuracies(evidence: Evidence) -> Iterator[tuple[str, Drawing]]:
    """Yield the page's accuracy against length by the name of its file, a figure a range."""
    training = evidence.training
    for name in dict.fromkeys(map(range_of, training.longest)):
        none = line_of("none", name)
        means = accuracy_figure.data(evidence.accuracy, TASKS, name)
        papers = accuracy_figure.papers(evidence.paper, name)
        steps = {task: training.steps_on(task, name) for task in TASKS}
        stem = "accuracy" if name == "short" else f"accuracy-{name}"
        yield stem, accuracy_figure.draw(means, papers, (training.shortest[none], training.longest[none]), steps)


def rewritten(text: str, answer: str) -> str:
    """Return the README with this answer. Raises InputError where a marker is missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise InputError(f"README.md: the lines {BEGIN} and {END} must be in it, in this order")
    return f"{before}{begin}\n{answer}\n{end}{after}"


def points(text: str) -> list[Markup]:
    """Return the points of the README's answer as HTML for a page two folders below: marks, links and powers."""
    listed = text.partition("\n1. ")[2].partition("\n\n")[0]
    found = []
    for point in re.split(r"\n\d\. +", listed):
        html = str(raised(" ".join(point.split())))
        html = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html)
        html = re.sub(r"\*(.+?)\*", r"<i>\1</i>", html)
        html = re.sub(r"`(.+?)`", r"<code>\1</code>", html)
        html = re.sub(r"\[([^]]+)\]\(([^)]+)\)", r'<a href="../../\2">\1</a>', html)
        found.append(Markup(html))  # noqa: S704  escaped above
    return found


def answer(means: pd.DataFrame, claims: Iterable[Mapping[str, Any]]) -> str:
    """Return a table of means, and a sentence on the verdicts of the paper's claims.

    A row an arm: of each task, accuracy at some lengths and beyond training. `means`: of `report.studies.read_answer`.
    """
    cells = list(product(TASKS, HEADS))
    head = ["accuracy (%)", *(f"{task}, {HEADS[length]}" for task, length in cells), "seeds"]
    lines = []
    for treatment in TREATMENTS:
        own = rows(means, treatment=treatment)
        texts = [_cell(rows(own, task=task, length=length)) for task, length in cells]
        lines.append([treatment, *texts, str(own["n"].min())])
    judged = [claim for claim in claims if is_papers(claim)]
    claimed = f"[{len(judged)} claims of the paper](docs/decisions.md#how-claims-are-judged)"
    return f"{table(head, lines)}\n\nVerdicts on {claimed}: {counts(judged)}."


def _cell(estimates: pd.DataFrame) -> str:
    """Return the one mean of a frame and half of its interval."""
    if estimates.empty:
        return MISSING
    (estimate,) = estimates.to_dict("records")
    return f"{estimate['mean']:.1f} ± {(estimate['high'] - estimate['low']) / 2:.1f}"


if __name__ == "__main__":
    run_script(main)
