"""Accuracy against sequence length under five treatments: the README's picture."""

import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.accuracy import HOLLOW, curve
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.columns import rows
from vanishing_variance.results.comparison import BEYOND

CURVE = ("mean", "paper", "low", "high")
LOOKS = {
    "none": variants.look("none"),
    "ln": variants.look("ln"),
    "averaged weights": style.look("#CC6677", "-.", "^"),
    "ln, averaged weights": style.look("#882255", ":", "v"),
    "three changes": style.look("#117733", "-", "D"),
}


def draw(means: pd.DataFrame, trained: tuple[int, int]) -> Drawing:
    """Draw a panel a task, a line a treatment; training lengths are shaded. `means`: `report.studies.read_answer`."""
    by_length = means[means["length"] != BEYOND].assign(row="")
    figure, panels = style.facets(by_length, "row", "task", margin=0.55, height=2.3)
    for axes, _, task, lines in panels:
        for name, look in LOOKS.items():
            curve(axes, rows(lines, treatment=name), CURVE, look, name)
        axes.axvspan(*trained, color=style.LIGHT, zorder=0, label="training lengths")
        style.length_axis(axes, by_length["length"].unique())
        axes.set(title=task, ylabel="accuracy (%)", ylim=(-2, 105))
        axes.label_outer()
    figure.axes[0].plot([], [], marker="o", color=style.GREY, **HOLLOW, label="the paper's (hollow)")
    style.legend_above(figure, columns=4)
    seeds = means.groupby("treatment", sort=False)["n"].min()
    numbers = "; ".join(f"{name}, {n}" for name, n in seeds.items())
    caption = f"Means over n seeds ({numbers}); bands: 95% t intervals over seeds. Hollow: the paper's, 100 seeds."
    return Drawing(figure, f"Accuracy against length, trained on {trained[0]} to {trained[1]} items", caption)
