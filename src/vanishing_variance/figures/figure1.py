"""Figure 1: standard deviation of fixed components of O inside a pretrained transformer, against length."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.probe.fits import pooled
from vanishing_variance.probe.strategies import STRATEGIES

# Points: of a line.
WIDTH = 1.6


def draw(deviations: pd.DataFrame, laws: pd.DataFrame) -> Drawing:
    """Draw a panel a strategy; a line a layer, the geometric mean of its components, and with one layer each of them.

    `laws` are the power laws of `pooled(deviations)`.
    """
    layers = list(deviations["layer"].unique())
    figure = style.figure(5)
    grid = figure.subplots(2, 2, sharey=True)
    means = pooled(deviations)
    for axes, strategy in zip(grid.flat, STRATEGIES, strict=True):
        if len(layers) == 1:
            of_strategy = deviations[deviations["strategy"] == strategy]
            for _, component in of_strategy.groupby(["head", "component"]):
                axes.plot(component["length"], component["deviation"], lw=0.8, alpha=0.6, color=style.GREY)
        _draw_layers(axes, means[means["strategy"] == strategy], laws[laws["strategy"] == strategy])
        axes.set(title=STRATEGIES[strategy].title, yscale="log")
        axes.set(xlabel="sequence length N (tokens)", ylabel="standard deviation of O")
        axes.legend(loc="lower left", title="exponent")
        axes.label_outer()
    style.letter(grid.flat)
    shared = grid[0, 0].yaxis
    shared.set_major_locator(LogLocator(subs=(1, 2, 5)))
    shared.set_major_formatter("{x:g}")
    shared.set_minor_formatter(NullFormatter())
    title = "Figure 1: standard deviation of attention outputs O inside a pretrained transformer"
    return Drawing(figure, title, _caption(deviations))


def _draw_layers(axes: Axes, means: pd.DataFrame, laws: pd.DataFrame) -> None:
    """Draw a line a layer, from dark to light by depth; of many layers the legend has the first and the last."""
    layers = list(laws["layer"])
    named = layers if len(layers) <= 4 else [layers[0], layers[-1]]
    # the lightest yellow of cividis is too faint on white
    colours = colormaps["cividis"](np.linspace(0, 0.9, len(layers)))
    for (_, law), colour in zip(laws.iterrows(), colours, strict=True):
        line = means[means["layer"] == law["layer"]]
        exponent = estimate(".2f", law["exponent"], law["low"], law["high"]).replace("-", "−")
        label = f"layer {law['layer']}: {exponent}" if law["layer"] in named else None
        axes.plot(line["length"], line["deviation"], "o-", lw=WIDTH, color=colour, label=label)
    # the slope for i.i.d. tokens and a fixed query, from the first layer's first point
    lengths = means["length"].unique()
    slope = means["deviation"].iloc[0] * (lengths / lengths[0]) ** -0.5
    axes.plot(lengths, slope, "--", lw=WIDTH, color=style.SERIES[2]["color"], label="reference: −0.5")
    style.length_axis(axes, lengths)


def _caption(deviations: pd.DataFrame) -> str:
    first = deviations.iloc[0]
    text = first["text"].rpartition(" ")[0]
    heads, components = deviations["head"].nunique(), deviations["component"].nunique()
    return (
        f"{first['model']} ({str(first['revision'])[:12]}); sentences of {text}. O at the last position over "
        f"n = {first['n']} sequences a length. A line is a layer, the deeper the lighter: the geometric mean of "
        f"{components} components of each of {heads} heads (with one layer, thin lines are the components), with the "
        "exponent of a power law fitted to all lengths and its 95% t interval over lengths. P.E.: positional encoding. "
        "The query is the last token, which differs between sequences; where it is fixed, which the paper does not do, "
        "all sequences end with the same token, drawn at random once."
    )
