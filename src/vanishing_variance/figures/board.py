"""The board of a study: mean accuracy beyond training of every line."""

from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.accuracy import rows

# Inches: of a line, and of everything above and below the lines.
LINE, MARGINS = 0.16, 0.9
BEYOND = ["beyond", "beyond_low", "beyond_high"]
# Rules beside `last` that have marks.
OTHERS: dict[str, dict[str, Any]] = {
    "averaged": {"marker": "^", "color": "#CC6677", "label": "averaged weights"},
    "hard": {"marker": "D", "color": style.GREY, "label": "hard attention"},
}


def draw(question: str, board: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a row a line, in the order of `board`, a frame of `studies.board`.

    A vertical line is the accuracy of the first line as trained, where it has one; words stand for what diverged.
    """
    tasks = board["task"].unique()
    names = board["line"].unique()
    places = pd.Series(np.arange(len(names)), names)
    figure = style.figure(MARGINS + LINE * max(len(names), 4))
    panels = figure.subplots(1, len(tasks), sharex=True, sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        lines = rows(board, task=task).set_index("line")
        last = rows(lines, rule="last")
        trained = last[last["beyond"].notna()]
        style.marks(axes, trained[BEYOND], places[trained.index], style.SERIES[0], "as trained")
        for rule, look in OTHERS.items():
            drawn = rows(lines, rule=rule)
            if len(drawn):
                axes.plot(drawn["beyond"], places[drawn.index], ls="none", ms=4.5, mfc="none", mew=0.8, **look)
        first = places.index[0]
        if first in trained.index:
            axes.axvline(trained.loc[first, "beyond"], color="#000000", lw=0.9, ls=":", zorder=0)
        for line in last.index.difference(trained.index):
            axes.text(0.02, places[line], "no result", transform=axes.get_yaxis_transform(), va="center")
        axes.grid(axis="y", visible=False)
        axes.set_yticks(places, places.index)
        axes.set_ylim(len(places) - 0.4, -0.6)
        axes.set(title=task, xlabel="accuracy beyond training (%)")
        axes.label_outer()
    style.letter(panels)
    style.legend_above(figure, columns=3)
    counts = board["n"].dropna()
    seeds = variants.seeds(counts) if len(counts) else "0"  # where all diverged
    caption = (
        f"Mean accuracy over the lengths beyond training, n = {seeds} seeds; bars: 95% t intervals over seeds. "
        "Averaged weights, and hard attention (all weight on the largest logit), are of the same trainings."
    )
    return Drawing(figure, question, caption)
