"""The block of README.md between two markers: accuracies under five treatments, and the counts of verdicts."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import MISSING, power
from vanishing_variance.report.tables import counts, is_papers
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.answer import BEYOND, TREATMENTS
from vanishing_variance.results.runs import TASKS

BEGIN, END = "<!-- answer: python -m stages.readme -->", "<!-- end of answer -->"


def rewritten(text: str, block: str) -> str:
    """Return the README with this block. Raises InputError where a marker is missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise InputError(f"README.md: the lines {BEGIN} and {END} must be in it, in this order")
    return f"{before}{begin}\n{block}\n{end}{after}"


def block(means: pd.DataFrame, claims: Iterable[Mapping[str, Any]]) -> str:
    """Return a table of `means`, those of `results.answer`, and a sentence on the verdicts of the paper's claims.

    A row a treatment: of each task, accuracy beyond training and at the longest length.
    """
    longest = means["length"].max()
    tested = {BEYOND: "beyond 16", longest: power(longest)}
    cells = list(product(TASKS, tested))
    head = ["accuracy (%)", *(f"{task}, {tested[length]}" for task, length in cells), "seeds"]
    lines = []
    for treatment in TREATMENTS:
        own = rows(means, treatment=treatment.name)
        texts = [_cell(rows(own, task=task, length=length)) for task, length in cells]
        lines.append([treatment.name, *texts, str(own["n"].min())])
    judged = [claim for claim in claims if is_papers(claim)]
    claimed = f"[{len(judged)} claims of the paper](plots/report/index.html)"
    return f"{table(head, lines)}\n\nVerdicts on {claimed}: {counts(judged)}."


def _cell(estimates: pd.DataFrame) -> str:
    """Return the one mean of a frame with half of its interval, and the paper's mean, if it has one, in brackets."""
    if estimates.empty:
        return MISSING
    (estimate,) = estimates.to_dict("records")
    half = (estimate["high"] - estimate["low"]) / 2
    ours = f"{estimate['mean']:.1f} ± {half:.1f}"
    return ours if pd.isna(estimate["paper"]) else f"{ours} ({estimate['paper']:.1f})"
