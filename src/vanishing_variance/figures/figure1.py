"""Figure 1: standard deviation of fixed components of O inside a pretrained transformer, against length."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.probe.fits import pooled
from vanishing_variance.probe.strategies import STRATEGIES

# As many layers as have their exponents written out; of more, the first and the last, and some between.
NAMED = 4
COLUMNS = 2
LEGEND = "exponent"
# Points: of a line.
WIDTH = 1.6


def draw(deviations: pd.DataFrame, laws: pd.DataFrame) -> Drawing:
    """Draw a panel a strategy; a line a layer, the geometric mean of its components, and with one layer each of them.

    `laws` are the power laws of `pooled(deviations)`.
    """
    means, layers = pooled(deviations), [int(layer) for layer in deviations["layer"].unique()]
    rows = -(-len(STRATEGIES) // COLUMNS)
    figure = style.figure(rows * (2.23 + 0.12 * min(NAMED, len(layers))))
    grid = figure.subplots(rows, COLUMNS, sharey=True)
    named = {layers[place] for place in np.linspace(0, len(layers) - 1, min(NAMED, len(layers))).round().astype(int)}
    for axes, name in zip(grid.flat, STRATEGIES, strict=True):
        if len(layers) == 1:
            for _, line in deviations[deviations["strategy"] == name].groupby(["head", "component"]):
                axes.plot(line["length"], line["deviation"], lw=0.8, alpha=0.6, color=style.GREY)
        for layer in layers:
            line = means[(means["strategy"] == name) & (means["layer"] == layer)]
            law = laws[(laws["strategy"] == name) & (laws["layer"] == layer)].iloc[0]
            label = f"layer {layer}: {_exponent(law)}" if layer in named else None
            colour = _colour(layers.index(layer), len(layers))
            axes.plot(line["length"], line["deviation"], "o-", lw=WIDTH, color=colour, label=label)
        _reference(axes, means[means["strategy"] == name])
        style.length_axis(axes, means["length"].unique())
        axes.set_xlabel("sequence length N (tokens)")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), title=LEGEND)
    style.letter(grid.flat, (strategy.title for strategy in STRATEGIES.values()))
    for axes in grid[:, 0]:
        axes.set_ylabel("standard deviation of O")
    first = grid[0, 0]
    first.set_yscale("log")
    first.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    first.yaxis.set_major_formatter("{x:g}")
    first.yaxis.set_minor_formatter(NullFormatter())
    title = "Figure 1: standard deviation of attention outputs O inside a pretrained transformer"
    return Drawing(figure, title, _caption(deviations, len(layers)))


def _exponent(law: pd.Series) -> str:
    interval = f" [{law['low']:.2f}, {law['high']:.2f}]" if pd.notna(law["low"]) else ""
    return f"{law['exponent']:.2f}{interval}".replace("-", "−")


def _colour(place: int, of: int) -> str | tuple[float, float, float, float]:
    """Return a colour from dark to light by depth; the lightest yellow of cividis is too faint on white."""
    return style.SERIES[0]["color"] if of == 1 else colormaps["cividis"](0.9 * place / (of - 1))


def _reference(axes: Axes, means: pd.DataFrame) -> None:
    """Draw the slope for i.i.d. tokens and a fixed query, from the first layer's first point."""
    ends = np.array([means["length"].min(), means["length"].max()])
    slope = means["deviation"].iloc[0] * (ends / ends[0]) ** -0.5
    axes.plot(ends, slope, "--", lw=WIDTH, color=style.SERIES[2]["color"], label="slope −0.5")


def _caption(deviations: pd.DataFrame, layers: int) -> str:
    first = deviations.iloc[0]
    heads, components = deviations["head"].unique(), deviations["component"].nunique()
    where = f"head {heads[0]}" if len(heads) == 1 else f"each of {len(heads)} heads"
    each = (
        "thin lines are components, the thick one is"
        if layers == 1
        else "a line is a layer, the deeper the lighter, and"
    )
    return (
        f"{first['model']} ({str(first['revision'])[:12]}); sentences of {first['text'].rpartition(' ')[0]}. "
        f"O at the last position over n = {first['n']} sequences a length, {components} components of {where}; {each} "
        "their geometric mean, with the exponent of a power law fitted to all lengths and its 95% t interval over "
        "lengths. P.E.: positional encoding. The query is the last token, which differs between sequences; where it "
        "is fixed, which the paper does not do, all sequences end with the same token, drawn at random once."
    )
