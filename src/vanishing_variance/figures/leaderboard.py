"""The leaderboard: mean accuracy beyond training of every line, as trained and with hard attention."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.leaderboard.files import HARD, TRAINED
from vanishing_variance.leaderboard.rows import DIVERGED, FINE

HOLLOW: dict[str, Any] = {"color": style.GREY, "ms": 4.5, "mfc": "none", "mew": 0.8, "zorder": 2}
# What the pieces of the lines' names mean.
PIECES = {
    "direct": "queries, keys and values are of the features themselves, not of what an MLP makes of them",
    "power": "softmax of the logits times a learned power of N, not of the logits themselves",
    "gain": "attention outputs times a learned power of N",
    "ln": "layer normalisation of the attention outputs",
    "centred": "their root mean square brought to 1 about a learned centre",
    "cosine": "a learning rate that falls to 0 along half a cosine, not a constant one",
    "longer": "more training steps",
}
# Inches: of a line, and of everything above and below the lines.
LINE, MARGINS = 0.16, 0.9


def draw(board: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a row a line as trained, the best at the top; words stand for what diverged or is at chance.

    The rows are by the smallest accuracy of all tasks, the same in all panels. `board`: a frame of `board.board`.
    """
    tasks = list(dict.fromkeys(board["task"]))
    trained = board[board["rule"] == TRAINED].sort_values("overall_rank", kind="stable", na_position="last")
    places = {line: place for place, line in enumerate(dict.fromkeys(trained["line"]))}
    figure = style.figure(MARGINS + LINE * max(len(places), 4))
    panels = figure.subplots(1, len(tasks), sharex=True, sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        hard = board[(board["task"] == task) & (board["rule"] == HARD)]
        _panel(axes, trained[trained["task"] == task], hard, places)
        axes.label_outer()
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
        f"Mean accuracy over the test lengths beyond training, over n = {numbers} seeds, with its 95% t interval, "
        "which may be narrower than its mark; the dotted line is the baseline. Rows are by the smaller of the tasks' "
        "accuracies. Hard attention: all weight on the same models' largest logit, at test time."
        f"{_meanings(places)}",
    )


def _meanings(lines: Iterable[str]) -> str:
    """Return a sentence that says what the pieces of these names mean, where it is known."""
    pieces = {piece for line in lines for piece in line.split("-")}
    said = [f"{piece}, {meaning}" for piece, meaning in PIECES.items() if piece in pieces]
    return f" In a line's name, {'; '.join(said)}." if said else ""


def _panel(axes: Axes, lines: pd.DataFrame, hard: pd.DataFrame, places: Mapping[str, int]) -> None:
    lines = lines.assign(place=lines["line"].map(places))
    shown = lines[lines["state"] == FINE]
    groups = {
        "as trained": (shown[~shown["baseline"]], style.SERIES[0]["color"], "o"),
        "baseline": (shown[shown["baseline"]], variants.colour("none"), "s"),
    }
    for label, (of, colour, marker) in groups.items():
        margins = [(of["beyond"] - of["beyond_low"]).fillna(0), (of["beyond_high"] - of["beyond"]).fillna(0)]
        axes.errorbar(
            of["beyond"], of["place"], xerr=margins, fmt=marker, color=colour, capsize=2, zorder=3, label=label
        )
        if label == "baseline" and len(of):
            axes.axvline(of["beyond"].iloc[0], color=colour, lw=0.9, ls=":", zorder=0)
    ceiling = shown.merge(hard[["line", "beyond"]], on="line", suffixes=("", "_hard"))
    axes.plot(ceiling["beyond_hard"], ceiling["place"], "D", **HOLLOW, label="hard attention")
    for line in lines[lines["state"] != FINE].to_dict("records"):  # a mark would leave the others little room
        said = DIVERGED if line["state"] == DIVERGED else f"{line['state']}: {line['beyond']:.1f}%"
        words = axes.text(0.02, line["place"], said, transform=axes.get_yaxis_transform(), va="center")
        words.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axes.set_yticks(list(places.values()), list(places))
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.set_xlabel("accuracy beyond training (%)")
    axes.grid(axis="y", visible=False)
