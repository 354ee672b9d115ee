"""Every gain of the study in three views (`results.gains`): a row a pair and rule, and the same as Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.harness.runs import RULES, TASKS, compared
from vanishing_variance.results.accuracy import pair
from vanishing_variance.results.gains import NOTE, VIEWS, gain

KEYS = ["task", "range", "treatment", "baseline", "rule", "n"]
ENDS = ("", "_low", "_high")
COLUMNS = [*KEYS, *(f"{name}{end}" for name in VIEWS for end in ENDS)]


def gains(accuracy: pd.DataFrame, norm: str, longest: Mapping[str, int], sequences: int) -> pd.DataFrame:
    """Return COLUMNS: the three views of each gain of `compared`, by every rule.

    `longest`: of training, by range; each accuracy is of so many `sequences`.
    """
    rows: list[dict[str, Any]] = []
    for task in TASKS:
        for range_ in longest:
            for treatment, baseline in compared(range_, norm):
                names = (task, range_, treatment, baseline)
                rows += _gains(accuracy, names, longest[range_], sequences)
    return pd.DataFrame(rows, columns=COLUMNS)


def markdown(gains: pd.DataFrame) -> str:
    """Return the gains as a table."""
    cells = []
    for row in gains.to_dict("records"):
        name = f"{row['treatment']} − {row['baseline']}"
        estimates = [estimate(how, *(row[f"{view}{end}"] for end in ENDS)) for view, (_, how) in VIEWS.items()]
        cells.append([row["task"], row["range"], name, row["rule"], str(row["n"]), *estimates])
    heads = [head for head, _ in VIEWS.values()]
    body = table(["task", "range", "gain", "rule", "n", *heads], cells, texts=4)
    return f"# Gains in three views\n\n{body}\n\n{NOTE}\n"


def _gains(
    accuracy: pd.DataFrame, names: tuple[str, str, str, str], longest: int, sequences: int
) -> Iterator[dict[str, Any]]:
    for rule in RULES:
        ours, theirs = pair(accuracy, *names, rule)
        if theirs.empty:
            continue
        views = gain(ours, theirs, longest, sequences)
        yield {**dict(zip(KEYS, (*names, rule, views.points.n), strict=True)), **views.columns()}
