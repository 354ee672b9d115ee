"""The board of a study: mean accuracy beyond training of every line."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.columns import LAST, rows
from vanishing_variance.results.runs import CHOSEN

# How marks look, their words, and how far they are from the middle of their row.
Look = tuple[dict[str, Any], str, float]
# Where the weights of each line were chosen, they stand alone.
OF_CHOSEN: dict[str, Look] = {CHOSEN: (style.SERIES[0], "chosen weights", 0.0)}
# Inches: of a line, and of everything above and below the lines.
LINE, MARGINS = 0.2, 0.9
BEYOND = ["beyond", "beyond_low", "beyond_high"]
# By the rule of the test.
RULES: dict[str, Look] = {
    "averaged": (style.look("#CC6677", "-", "^"), "averaged weights", -0.25),
    "last": (style.SERIES[0], "last weights", 0.0),
    "hard": (style.look(style.GREY, "-", "D"), "hard attention", 0.25),
}


def draw(question: str, board: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a row a line; `board` is a frame of `studies.board`. Words stand for what diverged.

    Where all lines are compared with the first, the best is at the top, by the mean over tasks with the last weights,
    and a vertical line is the accuracy of the first; else in the order of the study, in which pairs stand together.
    """
    tasks, first = board["task"].unique(), board["line"].iloc[0]
    is_leaderboard = set(board["baseline"].dropna()) <= {first}
    board = board.drop_duplicates(["task", "line", "rule"])  # of a second baseline
    rules = OF_CHOSEN if CHOSEN in set(board["rule"]) else RULES
    first_rule = CHOSEN if CHOSEN in rules else LAST
    means = rows(board, rule=first_rule).groupby("line", sort=False)["beyond"].mean()
    names = means.sort_values(ascending=False, kind="stable").index if is_leaderboard else means.index
    places = pd.Series(np.arange(len(names)), names)
    figure = style.figure(MARGINS + LINE * max(len(names), 4))
    panels = figure.subplots(1, len(tasks), sharex=True, sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        lines = rows(board, task=task).set_index("line")
        _draw_marks(axes, lines, rules, places)
        last = rows(lines, rule=first_rule)["beyond"]
        if is_leaderboard and not np.isnan(last.get(first, np.nan)):
            axes.axvline(last[first], color="#000000", lw=0.9, ls=":", zorder=0, label=f"{first}, last weights")
        for line in last.index[last.isna()]:
            axes.text(0.02, places[line], "no result", transform=axes.get_yaxis_transform(), va="center")
        axes.grid(axis="y", visible=False)
        axes.set_yticks(places, places.index)
        axes.set_ylim(len(places) - 0.4, -0.6)
        axes.set(title=task)
        axes.label_outer()
    panels[0].set_xlim(right=min(panels[0].get_xlim()[1], 102))
    figure.supxlabel("accuracy beyond training (%)", size="medium")
    style.letter(panels)
    style.legend_above(figure, columns=4)
    counts = board["n"].dropna()
    seeds = variants.seeds(counts) if len(counts) else "0"  # where all diverged
    caption = f"Mean accuracy over the lengths beyond training, n = {seeds} seeds; bars: 95% t intervals over seeds."
    if rules is RULES:
        caption += " All marks are of the same trainings; hard attention: all weight on the largest logit."
    return Drawing(figure, question, caption)


def _draw_marks(axes: Axes, lines: pd.DataFrame, rules: Mapping[str, Look], places: "pd.Series[int]") -> None:
    """Draw the accuracies of lines on a task by each rule, where there are any."""
    for rule, (look, words, shift) in rules.items():
        drawn = rows(lines, rule=rule).dropna(subset="beyond")
        if len(drawn):
            style.marks(axes, drawn[BEYOND], places[drawn.index] + shift, look, words)
