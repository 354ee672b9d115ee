"""The leaderboard as a page of its own, which is a section of the study's page as well."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

from vanishing_variance.core.ranges import Range
from vanishing_variance.leaderboard import ablation, ceiling
from vanishing_variance.leaderboard.board_table import SETTINGS
from vanishing_variance.leaderboard.files import TRAINED
from vanishing_variance.leaderboard.rows import SHOWN
from vanishing_variance.report.cells import Cell, Table
from vanishing_variance.report.figures import figure
from vanishing_variance.report.formats import MISSING, number, raised
from vanishing_variance.report.leaderboard_chart import chart
from vanishing_variance.report.rendering import TEMPLATES
from vanishing_variance.study import markdown

# Percent, at the longest length, on every task: what counts as holding.
HELD = 90.0


@dataclass(frozen=True)
class Results:
    """Contents of the page: board.csv, accuracy.csv, ablation.csv and ceiling.csv of metrics/leaderboard, the figure as
    SVG text, and the training lengths.
    """

    board: pd.DataFrame
    accuracy: pd.DataFrame
    gains: pd.DataFrame
    ceilings: pd.DataFrame
    picture: str
    trained: Range


def page(results: Results) -> str:
    """Return the page: an answer in words, the chart, the lines by rank, ablation, ceiling and the figure."""
    longest, gains = results.trained.longest, results.gains
    trained = results.board[results.board["rule"] == TRAINED]
    tables = [_lines(trained, longest)]
    if len(gains):
        title = f"The pieces of {gains['line'].iloc[0]} (percentage points)"
        tables.append(_table("ablation", title, ablation.NOTE, ablation.tables(gains)))
    title = "The ceiling of hard attention, predicted from the weights"
    tables.append(_table("ceiling", title, ceiling.NOTE, [("argmax", *ceiling.table(results.ceilings))]))
    return TEMPLATES.get_template("leaderboard.html").render(
        answer=raised(answer(trained, longest)),
        accuracies=chart(results.accuracy, results.board, results.trained),
        drawn=figure("leaderboard", results.picture),
        tables=tables,
    )


def answer(trained: pd.DataFrame, longest: int) -> str:
    """Return in words how many lines hold at the longest length, and what the best and the baseline have there.

    `trained`: the rows of the board as trained.
    """
    last = _last(trained)
    by_line = {line: of.set_index("task")[f"accuracy_{last}"] for line, of in trained.groupby("line", sort=False)}
    held = [line for line, of in by_line.items() if (of >= HELD).all()]
    ranked = trained.dropna(subset="overall_rank").sort_values("overall_rank", kind="stable")["line"]
    baseline = trained.loc[trained["baseline"], "line"]
    shown = [
        f"{line} has " + " and ".join(f"{number(value, '.1f')}% on {task}" for task, value in by_line[line].items())
        for line in dict.fromkeys([*ranked[:1], *baseline[:1]])
    ]
    return (
        f"Trained on up to {longest} items, {len(held)} of {len(by_line)} treatments are at {HELD:g}% or more on every "
        f"task at {markdown.power(last)} items. There {', '.join(shown)}."
    )


def _last(trained: pd.DataFrame) -> int:
    """Return the longest length."""
    return max(length for length in SHOWN if f"accuracy_{length}" in trained)


def _lines(trained: pd.DataFrame, longest: int) -> Table:
    last = _last(trained)
    heads = {"beyond": "beyond (%)", f"accuracy_{last}": f"{markdown.power(last)} (%)"}
    columns = list(product(dict.fromkeys(trained["task"]), heads))
    rows = []
    for line, of in trained.sort_values("overall_rank", kind="stable", na_position="last").groupby("line", sort=False):
        by_task = of.set_index("task")
        cells = [str(by_task[name].iloc[0]) for name in SETTINGS]
        cells += [_mean(by_task.loc[task], name) for task, name in columns]
        rows.append((str(line), [Cell(cell) for cell in (*cells, number(of["step"].mean(), ".1f"))]))
    baseline = ", ".join(trained.loc[trained["baseline"], "line"].unique())
    note = (
        "Lines as trained, by the smaller of their accuracies beyond training, the mean over all test lengths longer "
        f"than {longest} items, with half of the 95% t interval. Step: CPU time of a training step, times that of the "
        f"baseline, {baseline}, the mean of the tasks. Every row, with paired tests and ranks: "
        "metrics/leaderboard/board.md."
    )
    head = [*SETTINGS, *(raised(f"{task}, {heads[name]}") for task, name in columns), "step (×)"]
    return Table("lines", "Treatments", note, head, [("both tasks", rows)], corner="line")


def _table(anchor: str, title: str, note: str, groups: Iterable[tuple[str, list[str], list[list[str]]]]) -> Table:
    """Return a table of texts; a group has a heading, the heads of all columns, and rows of as many cells."""
    headings, (heads, *_), rows = zip(*groups, strict=True)
    cells = [[(name, [Cell(text.replace("-", "−")) for text in texts]) for name, *texts in of] for of in rows]
    corner, *head = map(raised, heads)
    return Table(anchor, title, note, head, list(zip(headings, cells, strict=True)), corner=corner)


def _mean(of: "pd.Series[Any]", name: str) -> str:
    """Return a mean with half of its interval, where it has one."""
    mean, high = of[name], of[f"{name}_high"]
    return number(mean, ".1f") + (f" ± {number(high - mean, '.1f')}" if number(high, ".1f") != MISSING else "")
