"""The leaderboard: mean accuracy beyond training of every line, as trained and with hard attention."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vanishing_variance.figures import style
from vanishing_variance.leaderboard.files import HARD, TRAINED
from vanishing_variance.leaderboard.rows import DIVERGED, FINE

HOLLOW: dict[str, Any] = {"ms": 4.5, "mfc": "none", "mew": 0.8, "zorder": 2}
# Inches: of a line, and of everything above and below the lines.
LINE, MARGINS = 0.185, 1.5


def draw(board: pd.DataFrame) -> Figure:
    """Draw a panel a task, a row a line as trained, the best at the top; words stand for what diverged or is at chance.

    `board`: a frame of `board.board`.
    """
    tasks = list(dict.fromkeys(board["task"]))
    lines = board["line"].nunique()
    figure = Figure(figsize=(7.5, MARGINS + LINE * max(lines, 4)), layout="constrained")
    panels = figure.subplots(1, len(tasks), squeeze=False)[0]
    for letter, axes, task in zip("abcdefgh", panels, tasks, strict=False):
        of = board[board["task"] == task]
        _panel(axes, of[of["rule"] == TRAINED], of[of["rule"] == HARD])
        axes.set_title(f"({letter}) {task}", loc="left")
    handles = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=len(handles))
    seeds = board["n"].dropna()
    numbers = "–".join(str(one) for one in dict.fromkeys((seeds.min(), seeds.max()))) if len(seeds) else "0"
    style.caption(
        figure,
        f"Mean over n = {numbers} seeds, with its 95% t interval; the dotted line is the baseline.\n"
        "Hard attention: all weight on the largest logit of the same models, at test time.",
    )
    return figure


def _panel(axes: Axes, lines: pd.DataFrame, hard: pd.DataFrame) -> None:
    lines = lines.assign(place=range(len(lines)))
    shown = lines[lines["state"] == FINE]
    groups = {
        "as trained": (shown[~shown["baseline"]], style.BLUE, "o"),
        "baseline": (shown[shown["baseline"]], style.ORANGE, "s"),
    }
    for label, (of, colour, marker) in groups.items():
        margins = [(of["beyond"] - of["beyond_low"]).fillna(0), (of["beyond_high"] - of["beyond"]).fillna(0)]
        axes.errorbar(of["beyond"], of["place"], xerr=margins, fmt=marker, color=colour, ms=3.5, lw=1.3, label=label)
        if label == "baseline" and len(of):
            axes.axvline(of["beyond"].iloc[0], color=colour, lw=0.9, ls=":", zorder=0)
    ceiling = shown.merge(hard[["line", "beyond"]], on="line", suffixes=("", "_hard"))
    axes.plot(ceiling["beyond_hard"], ceiling["place"], "D", color=style.BLACK, **HOLLOW, label="hard attention")
    for line in lines[lines["state"] != FINE].to_dict("records"):  # a mark would leave the others little room
        said = DIVERGED if line["state"] == DIVERGED else f"{line['state']}: {line['beyond']:.1f}%"
        words = axes.text(0.02, line["place"], said, transform=axes.get_yaxis_transform(), va="center", fontsize=7)
        words.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axes.set_yticks(lines["place"], lines["line"], fontsize=7.5)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_xlabel("accuracy beyond training (%)")
    axes.grid(axis="y", visible=False)
