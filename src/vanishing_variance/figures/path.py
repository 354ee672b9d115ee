"""The path of a study: accuracy and gain of every line on it."""

import numpy as np
import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.board import BEYOND
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.accuracy import rows

# Inches: of a line, and of everything above and below the lines.
LINE, MARGINS = 0.22, 0.95
GAIN = ["difference", "difference_low", "difference_high"]
# By the rule of the test, its words, and how far its marks are from the middle of their line.
RULES = {"last": ("last weights", -0.15), "averaged": ("averaged weights", 0.15)}


def draw(question: str, board: pd.DataFrame, path: list[str]) -> Drawing:
    """Draw a row of panels a task, from the top in the order of `path`; `board` is a frame of `studies.board`.

    On the left the accuracy beyond training of each line and of its baseline, with the last weights; on the right the
    gain of the line, by rule.
    """
    heights = pd.Series(np.arange(len(path)), path)
    tasks = board["task"].unique()
    figure = style.figure(MARGINS + LINE * len(path) * len(tasks))
    panels = figure.subplots(len(tasks), 2, sharex="col", sharey=True, squeeze=False)
    for task, (accuracy, gain) in zip(tasks, panels, strict=True):
        of_task = rows(board, task=task)
        last = rows(of_task, rule="last").set_index("line")
        baselines = last.loc[path, "baseline"].tolist()
        style.marks(accuracy, last.loc[baselines, BEYOND], heights - 0.15, style.SERIES[3], "its baseline")
        style.marks(accuracy, last.loc[path, BEYOND], heights + 0.15, style.SERIES[1], "the line")
        for place, (rule, (words, shift)) in enumerate(RULES.items()):
            of_rule = rows(of_task, rule=rule).set_index("line").reindex(path)
            style.marks(gain, of_rule[GAIN], heights + shift, style.SERIES[2 * place], words)
        gain.axvline(0, color="#000000", lw=0.9, zorder=0)
        accuracy.set(title=task, xlabel="accuracy beyond training (%)", yticks=range(len(path)), yticklabels=path)
        gain.set(title=task, xlabel="gain over its baseline (points)")
        accuracy.set_ylim(len(path) - 0.4, -0.6)
    for axes in panels.flat:
        axes.label_outer()
        axes.grid(axis="y", visible=False)
    style.letter(panels.flat)
    style.legend_above(figure, columns=4)
    counts = rows(board[board["line"].isin(path)], rule="last")["n"].dropna()
    caption = (
        "From line to line one thing changes. Means over the lengths beyond training, paired by seed, "
        f"n = {variants.seeds(counts)} seeds; bars: 95% t intervals over seeds."
    )
    return Drawing(figure, question, caption)
