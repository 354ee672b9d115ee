"""Accuracy against sequence length in five arms: the README's picture."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.arms import BEYOND
from vanishing_variance.results.columns import rows

BLACK, BLUE = (variants.look(norm)["color"] for norm in ("none", "ln"))
THREE_CHANGES = style.look("#117733", "-", "D")
# By arm and, after the comma, its training.
LOOKS = {
    "none, paper's training": style.look(BLACK, ":", "o"),
    "LN, paper's training": style.look(BLUE, ":", "s"),
    "none, tuned": style.look(BLACK, "-", "o"),
    "LN, tuned": style.look(BLUE, "-", "s"),
    "three changes": THREE_CHANGES,
}
# Percentage points between the names of two lines, at least; and the longest length over the right end of a panel.
APART, ROOM = 7, 2**8


def draw(means: pd.DataFrame, trained: tuple[int, int]) -> Drawing:
    """Draw a panel a task, a line an arm; training lengths are shaded. `means`: `report.studies.read_answer`."""
    by_length = means[means["length"] != BEYOND].assign(row="")
    figure, panels = style.facets(by_length, "row", "task", margin=0.7, height=2.5)
    longest = by_length["length"].max()
    for axes, _, task, lines in panels:
        ends = {}
        for name, look in LOOKS.items():
            line = rows(lines, treatment=name).set_index("length")
            axes.plot(line.index, line["mean"], **look)
            style.band(axes, line["low"], line["high"], look["color"])
            ends[name] = line["mean"][longest]
        axes.axvspan(*trained, color=style.LIGHT, zorder=0)
        axes.text(trained[0], 2, " trained", fontsize="small", color=style.GREY)
        style.length_axis(axes, by_length["length"].unique())
        axes.set(
            title=task, xlabel="length N (items)", ylabel="accuracy (%)", ylim=(0, 103), xlim=(None, ROOM * longest)
        )
        axes.label_outer()
        _name(axes, ends, longest)
    seeds = means.groupby("treatment", sort=False)["n"].min()
    trainings = seeds.groupby(seeds.index.str.split(", ").str[-1], sort=False).min()
    numbers = ", ".join(f"{n} ({training})" for training, n in trainings.items())
    counted = f"Means over n = {numbers} seeds; bands: 95% t intervals over seeds."
    style.note(figure, counted)
    return Drawing(figure, f"Accuracy against length, trained on {trained[0]} to {trained[1]} items", counted)


def _name(axes: Axes, ends: Mapping[str, float], longest: int) -> None:
    """Write the names of lines beside their right ends, as far apart as they can be read."""
    height = -float(APART)
    for name, end in sorted(ends.items(), key=lambda item: item[1]):
        height = max(end, height + APART)
        axes.text(1.25 * longest, height, name, color=LOOKS[name]["color"], va="center", fontsize="small")
