"""Figure of how much of the accuracy each quantity inside the models explains."""

from collections.abc import Mapping
from itertools import product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.quantities import GROUPINGS, MEANINGS, QUANTITIES

# A look and a place beside the others for each grouping.
LOOKS = dict(zip(GROUPINGS, zip(style.SERIES[:5:2], (0.25, 0.0, -0.25), strict=True), strict=True))


def draw(explained: pd.DataFrame, longest: Mapping[str, int], seeds: pd.Series) -> Drawing:
    """Draw a row of panels a range, a column a task; a line a quantity, a point a grouping: r2 with its interval.

    `longest`: the longest training length by range, in the order of the rows; `seeds`: how many there are of a task,
    range and normaliser.
    """
    ranges = [name for name in longest if name in set(explained["range"])]
    tasks = list(dict.fromkeys(explained["task"]))
    figure = style.figure(0.6 + 1.75 * len(ranges))
    panels = figure.subplots(len(ranges), len(tasks), sharex=True, sharey=True, squeeze=False)
    titles = {}
    for axes, (range_, task) in zip(panels.flat, product(ranges, tasks), strict=True):
        of = explained[(explained["range"] == range_) & (explained["task"] == task)]
        axes.set_visible(len(of) > 0)
        if len(of):
            _panel(axes, of)
            titles[axes] = f"{task}, trained at N ≤ {longest[range_]}"
    style.letter(titles, titles.values())
    for axes in panels[-1]:
        axes.set_xlabel("explained share of the\nvariance of accuracy, $r^2$")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(LOOKS))
    return Drawing(
        figure,
        "Share of the variance of accuracy that quantities inside the models explain",
        f"Squared correlation with the accuracy within groups, of n = {variants.seeds(seeds)} seeds of every "
        f"normaliser, which are up to {explained['n'].max()} models × lengths; the bars are 95% intervals, by the "
        "bootstrap over seeds. Between seeds: models of one normaliser, at one length; between models: of all "
        f"normalisers, at one length; across lengths: one model. {MEANINGS}",
    )


def _panel(axes: Axes, of: pd.DataFrame) -> None:
    places = {name: len(QUANTITIES) - 1 - place for place, name in enumerate(QUANTITIES)}
    for place in list(places.values())[::2]:
        axes.axhspan(place - 0.5, place + 0.5, color=style.LIGHT, lw=0, zorder=0)
    for grouping, (look, beside) in LOOKS.items():
        points = of[of["grouping"] == grouping].dropna(subset="r2")
        low, high = (points[bound].fillna(points["r2"]) for bound in ("r2_low", "r2_high"))
        axes.errorbar(
            points["r2"],
            points["quantity"].map(places).astype(float) + beside,
            # The interval of a few seeds need not hold the estimate.
            xerr=[(points["r2"] - low).clip(lower=0), (high - points["r2"]).clip(lower=0)],
            fmt=look["marker"],
            color=look["color"],
            label=grouping,
        )
    axes.set_yticks(list(places.values()), [QUANTITIES[name][0] for name in places])
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.5, len(places) - 0.5))
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.grid(axis="y", visible=False)
