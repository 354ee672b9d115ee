"""The leaderboard as a page of its own, which is a section of the study's page as well."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from vanishing_variance.core.ranges import Range
from vanishing_variance.leaderboard import ablation, ceiling
from vanishing_variance.leaderboard.board_table import SETTINGS
from vanishing_variance.leaderboard.files import TRAINED
from vanishing_variance.report.cells import Cell, Row, Table
from vanishing_variance.report.figures import figure
from vanishing_variance.report.formats import MISSING, number, raised
from vanishing_variance.report.leaderboard_chart import chart
from vanishing_variance.report.rendering import TEMPLATES
from vanishing_variance.report.vega import script
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
    made = [_lines(trained, longest), *([_ablation(gains)] if len(gains) else []), _ceiling(results.ceilings)]
    return TEMPLATES.get_template("leaderboard.html").render(
        answer=raised(answer(trained, longest)),
        accuracies=chart(results.accuracy, results.board, results.trained),
        drawn=figure("leaderboard", results.picture),
        tables=made,
        script=Markup(script()),  # noqa: S704 -- a file of ours, and Vega
    )


def answer(trained: pd.DataFrame, longest: int) -> str:
    """Return in words how many lines hold at the longest length, and what the best and the baseline have there.

    `trained`: the rows of the board as trained.
    """
    last, by_line = _last(trained), {line: of.set_index("task") for line, of in trained.groupby("line", sort=False)}
    held = [line for line, of in by_line.items() if (of[last] >= HELD).all()]
    ranked = trained.dropna(subset="overall_rank").sort_values("overall_rank", kind="stable")["line"]
    baseline = trained.loc[trained["baseline"], "line"]
    shown = [
        f"{line} has "
        + " and ".join(f"{number(value, '.1f')}% on {task}" for task, value in by_line[line][last].items())
        for line in dict.fromkeys([*ranked[:1], *baseline[:1]])
    ]
    return (
        f"Trained on up to {longest} items, {len(held)} of {len(by_line)} treatments are at {HELD:g}% or more on every "
        f"task at {markdown.power(_items(last))} items. There {', '.join(shown)}."
    )


def _items(column: str) -> int:
    return int(column.removeprefix("accuracy_"))


def _last(trained: pd.DataFrame) -> str:
    """Return the column of the longest length."""
    return max(
        (name for name in map(str, trained) if name.startswith("accuracy_") and name.count("_") == 1), key=_items
    )


def _lines(trained: pd.DataFrame, longest: int) -> Table:
    last, tasks = _last(trained), list(dict.fromkeys(trained["task"]))
    columns = [(task, name) for task in tasks for name in ("beyond", last)]
    heads = {"beyond": "beyond (%)", last: f"{markdown.power(_items(last))} (%)"}
    rows = []
    for line, of in trained.sort_values("overall_rank", kind="stable", na_position="last").groupby("line", sort=False):
        by_task = of.set_index("task")
        cells = [str(by_task[name].iloc[0]) for name in SETTINGS]
        cells += [_mean(by_task.loc[task], name) for task, name in columns]
        rows.append(Row(str(line), [Cell(cell) for cell in (*cells, number(of["step"].mean(), ".1f"))]))
    baseline = ", ".join(trained.loc[trained["baseline"], "line"].unique())
    note = (
        "Lines as trained, by the smaller of their accuracies beyond training, the mean over all test lengths longer "
        f"than {longest} items, with half of the 95% t interval. Step: CPU time of a training step, times that of the "
        f"baseline, {baseline}, the mean of the tasks. Every row, with paired tests and ranks: "
        "metrics/leaderboard/board.md."
    )
    head = [*SETTINGS, *(raised(f"{task}, {heads[name]}") for task, name in columns), "step (×)"]
    return Table("lines", "Treatments", note, head, [("both tasks", rows)], corner="line")


def _ablation(gains: pd.DataFrame) -> Table:
    found = list(ablation.tables(gains))
    heads = found[0][1]
    title = f"The pieces of {gains['line'].iloc[0]} (percentage points)"
    groups = [(heading, [_row(cells) for cells in rows]) for heading, _, rows in found]
    return Table("ablation", title, ablation.NOTE, [raised(head) for head in heads[1:]], groups, corner=heads[0])


def _ceiling(found: pd.DataFrame) -> Table:
    heads, rows = ceiling.table(found)
    title, groups = "The ceiling of hard attention, predicted from the weights", [("argmax", [_row(of) for of in rows])]
    return Table("ceiling", title, ceiling.NOTE, [raised(head) for head in heads[1:]], groups, corner=heads[0])


def _row(cells: list[str]) -> Row:
    return Row(cells[0], [Cell(cell.replace("-", "−")) for cell in cells[1:]])


def _mean(of: "pd.Series[Any]", name: str) -> str:
    """Return a mean with half of its interval, where it has one."""
    mean, high = of[name], of[f"{name}_high"]
    return number(mean, ".1f") + (f" ± {number(high - mean, '.1f')}" if number(high, ".1f") != MISSING else "")
