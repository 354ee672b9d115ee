"""The board of a study: mean accuracy beyond training of every line."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing, without_data
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.columns import LAST, rows
from vanishing_variance.results.comparison import FEWEST
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


def draw(question: str, board: pd.DataFrame, of_ranges: str = "") -> Drawing:
    """Draw a panel a task, a row a line; `board` is a frame of `studies.board`. Words stand for what is not there.

    A line stands with its baseline, the best at the top, by the mean over tasks with the last weights. Where all are
    compared with the first, a vertical line is the accuracy of that one. A task with one line compares nothing.
    `of_ranges`: what the caption says where means are of other lengths by range.
    """
    counts = board.groupby("task", sort=False)["line"].nunique()
    tasks = counts.index[counts > 1]
    if tasks.empty:
        return without_data(question, "No task has two lines.")
    board = board[board["task"].isin(tasks)]
    baselines = board.groupby("line", sort=False)["baseline"].first()
    first = baselines.index[0]
    is_leaderboard = set(baselines.dropna()) <= {first}
    rules = OF_CHOSEN if CHOSEN in set(board["rule"]) else RULES
    board = board[board["rule"].isin(list(rules))].drop_duplicates(["task", "line", "rule"])  # of a second baseline
    first_rule = CHOSEN if CHOSEN in rules else LAST
    is_few = board["n"].lt(FEWEST).fillna(value=False)
    board = board.assign(**{end: board[end].mask(is_few) for end in BEYOND[1:]})
    groups = _groups(rows(board, rule=first_rule).groupby("line", sort=False)["beyond"].mean(), baselines)
    places = pd.Series(np.arange(len(groups)), groups.index)
    best = board.groupby(["task", "line"])["beyond"].transform("max")
    lower, upper = board["beyond"].quantile([0.25, 0.75])
    fence = lower - 1.5 * (upper - lower)  # Tukey's: one row far below does not squeeze the others
    figure = style.figure(MARGINS + LINE * max(len(places), 4))
    panels = figure.subplots(1, len(tasks), sharex=True, sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        inside = rows(board[best >= fence], task=task).set_index("line")
        _draw_marks(axes, inside, rules, places)
        last = rows(board, task=task, rule=first_rule).set_index("line").reindex(places.index)[BEYOND]
        if is_leaderboard and last["beyond"][first] >= fence:
            label = f"{first}, {rules[first_rule][1]}"
            axes.axvline(last["beyond"][first], color="#000000", lw=0.9, ls=":", zorder=0, label=label)
        for place, line in enumerate(places.index):
            if groups[line] % 2:
                axes.axhspan(place - 0.5, place + 0.5, color="#F4F4F4", lw=0, zorder=0)
            if line not in inside.index:
                mean, low, high = last.loc[line]
                words = "no result" if np.isnan(mean) else f"◂ {estimate('.1f', mean, low, high)}"
                axes.text(0.02, place, words, transform=axes.get_yaxis_transform(), va="center", color=style.GREY)
        axes.grid(axis="y", visible=False)
        axes.set_yticks(places, places.index)
        axes.set_ylim(len(places) - 0.4, -0.6)
        axes.set(title=task, xlabel="accuracy beyond training (%)")
        axes.label_outer()
    style.letter(panels)
    style.legend_above(figure, columns=4)
    n = board["n"].dropna()
    note = f"n = {variants.seeds(n) if len(n) else 0} seeds; bars: 95% t intervals over seeds"  # 0: all diverged
    if is_few.any():
        note += f", of {FEWEST} or more"
    if board["beyond_low"].min() < 0 or board["beyond_high"].max() > 100:
        note += ", cut at 0% and 100%"
    if "hard" in set(board["rule"]):
        note += "; hard attention: all weight on the largest logit"
    style.note(figure, note)
    caption = (
        f"Mean accuracy over the lengths beyond training, {note}. A line's marks are of the same models.{of_ranges}"
    )
    return Drawing(figure, question, caption)


def _groups(means: "pd.Series[float]", baselines: "pd.Series[str]") -> "pd.Series[int]":
    """Return, by line from the best to the worst, the number of its group: lines with one baseline, and that one."""
    of = baselines.fillna(pd.Series(baselines.index, baselines.index))
    order = pd.DataFrame({"baseline": of.map(means), "group": of, "own": means})
    order = order.sort_values(["baseline", "group", "own"], ascending=False, kind="stable")
    changes = order["group"] != order["group"].shift(fill_value=order["group"].iloc[0])
    return changes.astype(int).cumsum()


def _draw_marks(axes: Axes, lines: pd.DataFrame, rules: Mapping[str, Look], places: "pd.Series[int]") -> None:
    """Draw the accuracies of lines on a task by each rule, where there are any."""
    for rule, (look, words, shift) in rules.items():
        drawn = rows(lines, rule=rule).dropna(subset="beyond")
        if len(drawn):
            style.marks(axes, drawn[BEYOND].clip(0, 100), places[drawn.index] + shift, look, words)
