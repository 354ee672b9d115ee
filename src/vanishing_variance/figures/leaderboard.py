"""The leaderboard: mean accuracy beyond training of every line, as trained and with hard attention."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.leaderboard.files import HARD, TRAINED
from vanishing_variance.leaderboard.rows import DIVERGED, FINE

HOLLOW: dict[str, Any] = {"color": style.GREY, "ms": 4.5, "mfc": "none", "mew": 0.8, "zorder": 2}
# Inches: of a line, and of everything above and below the lines.
LINE, MARGINS = 0.16, 0.9


def draw(board: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a row a line as trained, the best at the top; words stand for what diverged or is at chance.

    `board`: a frame of `board.board`.
    """
    tasks = list(dict.fromkeys(board["task"]))
    lines = board["line"].nunique()
    figure = style.figure(MARGINS + LINE * max(lines, 4))
    panels = figure.subplots(1, len(tasks), squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        of = board[board["task"] == task]
        _panel(axes, of[of["rule"] == TRAINED], of[of["rule"] == HARD])
    style.letter(panels, tasks)
    handles = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=len(handles))
    seeds = board["n"].dropna()
    numbers = "–".join(str(one) for one in dict.fromkeys((seeds.min(), seeds.max()))) if len(seeds) else "0"
    return Drawing(
        figure,
        "Accuracy beyond training, a row a line",
        f"Mean accuracy over the test lengths beyond training, over n = {numbers} seeds, with its 95% t interval; the "
        "dotted line is the baseline. Hard attention: all weight on the same models' largest logit, at test time.",
    )


def _panel(axes: Axes, lines: pd.DataFrame, hard: pd.DataFrame) -> None:
    lines = lines.assign(place=range(len(lines)))
    shown = lines[lines["state"] == FINE]
    groups = {
        "as trained": (shown[~shown["baseline"]], style.SERIES[0]["color"], "o"),
        "baseline": (shown[shown["baseline"]], variants.colour("none"), "s"),
    }
    for label, (of, colour, marker) in groups.items():
        margins = [(of["beyond"] - of["beyond_low"]).fillna(0), (of["beyond_high"] - of["beyond"]).fillna(0)]
        axes.errorbar(of["beyond"], of["place"], xerr=margins, fmt=marker, color=colour, label=label)
        if label == "baseline" and len(of):
            axes.axvline(of["beyond"].iloc[0], color=colour, lw=0.9, ls=":", zorder=0)
    ceiling = shown.merge(hard[["line", "beyond"]], on="line", suffixes=("", "_hard"))
    axes.plot(ceiling["beyond_hard"], ceiling["place"], "D", **HOLLOW, label="hard attention")
    for line in lines[lines["state"] != FINE].to_dict("records"):  # a mark would leave the others little room
        said = DIVERGED if line["state"] == DIVERGED else f"{line['state']}: {line['beyond']:.1f}%"
        words = axes.text(0.02, line["place"], said, transform=axes.get_yaxis_transform(), va="center")
        words.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axes.set_yticks(lines["place"], lines["line"])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_xlabel("accuracy beyond training (%)")
    axes.grid(axis="y", visible=False)
