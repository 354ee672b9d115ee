"""Figure of how much of the accuracy each quantity inside the models explains."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from vanishing_variance.figures import style
from vanishing_variance.study.quantities import GROUPINGS, QUANTITIES

# A colour, a marker and a place beside the others for each grouping.
LOOKS = dict(
    zip(GROUPINGS, ((style.BLUE, "o", 0.25), (style.ORANGE, "s", 0.0), (style.GREEN, "^", -0.25)), strict=True)
)


def draw(explained: pd.DataFrame) -> Figure:
    """Draw a row of panels a range, a column a task; a line a quantity, a point a grouping: r2 with its interval."""
    ranges, tasks = (list(dict.fromkeys(explained[column])) for column in ("range", "task"))
    figure = Figure(figsize=(7.5, 1.2 + 2.5 * len(ranges)), layout="constrained")
    panels = figure.subplots(len(ranges), len(tasks), sharex=True, sharey=True, squeeze=False)
    for row, range_ in zip(panels, ranges, strict=True):
        for axes, task in zip(row, tasks, strict=True):
            _panel(axes, explained[(explained["range"] == range_) & (explained["task"] == task)])
            axes.set_title(f"{task}, {range_} range")
    for axes in panels[-1]:
        axes.set_xlabel("explained share of the accuracy, $r^2$")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(LOOKS))
    style.caption(
        figure,
        f"Squared correlation with the accuracy within groups, up to n = {explained['n'].max()} models × lengths; the\n"
        "bars are 95% intervals, by the bootstrap over seeds. Between models: of all normalisers, at one length.",
    )
    return figure


def _panel(axes: Axes, of: pd.DataFrame) -> None:
    places = {name: len(QUANTITIES) - 1 - place for place, name in enumerate(QUANTITIES)}
    for grouping, (colour, marker, beside) in LOOKS.items():
        points = of[of["grouping"] == grouping].dropna(subset="r2")
        low, high = (points[bound].fillna(points["r2"]) for bound in ("r2_low", "r2_high"))
        axes.errorbar(
            points["r2"],
            points["quantity"].map(places).astype(float) + beside,
            # The interval of a few seeds need not hold the estimate.
            xerr=[(points["r2"] - low).clip(lower=0), (high - points["r2"]).clip(lower=0)],
            fmt=marker,
            color=colour,
            ms=3.5,
            lw=1.2,
            label=grouping,
        )
    axes.set_yticks(list(places.values()), [QUANTITIES[name][0] for name in places], fontsize=7.5)
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.grid(axis="y", visible=False)
