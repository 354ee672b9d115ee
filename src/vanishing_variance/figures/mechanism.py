"""Figure of how much of the accuracy each quantity inside the models explains."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.ticker import PercentFormatter

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.quantities import GROUPINGS, QUANTITIES

# Of each grouping the look, and the place beside the others.
_APART = (style.SERIES[0], style.SERIES[2], style.SERIES[5])
LOOKS = dict(zip(GROUPINGS, zip(_APART, (-0.25, 0.0, 0.25), strict=True), strict=True))


def draw(explained: pd.DataFrame, longest: Mapping[str, int], seeds: pd.Series) -> Drawing:
    """Draw a row of panels a range, a column a task; a line a quantity, a point a grouping: r2 with its interval.

    `longest`: the longest training length by range, in the order of the rows; `seeds`: how many there are of a task,
    range and normaliser.
    """
    names = list(QUANTITIES)
    titles = [title for title, _ in QUANTITIES.values()]
    figure, panels = style.facets(explained, "range", "task", margin=0.6, height=1.75)
    for axes, range_, task, shown in panels:
        for place in range(0, len(names), 2):
            axes.axhspan(place - 0.5, place + 0.5, color=style.LIGHT, lw=0, zorder=0)
        for grouping, (look, beside) in LOOKS.items():
            points = rows(shown, grouping=grouping).dropna(subset="r2")
            places = points["quantity"].map(names.index).astype(float)
            style.marks(axes, points[["r2", "r2_low", "r2_high"]], places + beside, look, grouping)
        axes.set_yticks(range(len(names)), titles)
        axes.set(xlim=(-0.02, 1.02), ylim=(len(names) - 0.5, -0.5))
        axes.xaxis.set_major_formatter(PercentFormatter(1))
        axes.grid(axis="y", visible=False)
        axes.set(title=f"{task}, trained at N ≤ {longest[range_]}")
        axes.set_xlabel("explained share of the\nvariance of accuracy, $r^2$")
        axes.label_outer()
    style.letter(figure.axes)
    style.legend_above(figure, columns=len(LOOKS))
    caption = (
        f"Squared correlation with accuracy over n = {variants.seeds(seeds)} seeds of every normaliser (up to "
        f"{explained['n'].max()} models × lengths); bars: 95% intervals, by the bootstrap over seeds. Between seeds: "
        "at one length and normaliser; between models: at one length; across lengths: in one model. All of O is "
        "relative to the training lengths."
    )
    return Drawing(figure, "Share of the variance of accuracy that quantities inside the models explain", caption)
