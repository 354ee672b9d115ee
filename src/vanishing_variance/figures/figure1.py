"""Figure 1: standard deviation of fixed components of O inside a pretrained transformer, against length."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.probe.fits import pooled
from vanishing_variance.probe.strategies import STRATEGIES
from vanishing_variance.results.accuracy import rows

# Points: of a line.
WIDTH = 1.6


def draw(deviations: pd.DataFrame, laws: pd.DataFrame) -> Drawing:
    """Draw a panel a strategy; a line a layer, the geometric mean of its components, and with one layer each of them.

    `laws` are the power laws of `pooled(deviations)`.
    """
    figure = style.figure(5)
    grid = figure.subplots(2, 2, sharey=True)
    means = pooled(deviations)
    for axes, (name, strategy) in zip(grid.flat, STRATEGIES.items(), strict=True):
        if deviations["layer"].nunique() == 1:
            components = rows(deviations, strategy=name).groupby(["head", "component"])
            for _, line in components:
                axes.plot(line["length"], line["deviation"], lw=0.8, alpha=0.6, color=style.GREY, label="components")
        _draw_layers(axes, rows(means, strategy=name), rows(laws, strategy=name))
        axes.set(title=strategy.title, yscale="log")
        axes.set(xlabel="sequence length N (tokens)", ylabel="standard deviation of O")
        axes.label_outer()
    style.letter(grid.flat)
    style.legend_above(figure, columns=4)
    style.log_ticks(grid[0, 0].yaxis, "{x:g}")
    title = "Figure 1: standard deviation of attention outputs O inside a pretrained transformer"
    return Drawing(figure, title, _caption(deviations))


def _draw_layers(axes: Axes, means: pd.DataFrame, laws: pd.DataFrame) -> None:
    """Draw a line a layer, from dark to light by depth; of many layers the first and the last are named."""
    layers = list(laws["layer"])
    named = layers if len(layers) <= 4 else [layers[0], layers[-1]]
    # the lightest yellow of cividis is too faint on white
    colours = colormaps["cividis"](np.linspace(0, 0.9, len(layers)))
    exponents = laws[["exponent", "low", "high"]].to_numpy()
    texts = []
    for layer, exponent, colour in zip(layers, exponents, colours, strict=True):
        label = None
        if layer in named:
            label = f"layer {layer}"
            texts.append(f"{label}: exponent {estimate('.2f', *exponent)}".replace("-", "−"))
        line = rows(means, layer=layer)
        axes.plot(line["length"], line["deviation"], "o-", lw=WIDTH, color=colour, label=label)
    # the slope for i.i.d. tokens and a fixed query, from the first layer's first point
    lengths = means["length"].unique()
    slope = means["deviation"].iloc[0] * (lengths / lengths[0]) ** -0.5
    axes.plot(lengths, slope, "--", lw=WIDTH, color=style.SERIES[2]["color"], label="reference: exponent −0.5")
    axes.text(0.03, 0.04, "\n".join(texts), transform=axes.transAxes)
    style.length_axis(axes, lengths)


def _caption(deviations: pd.DataFrame) -> str:
    first = deviations.iloc[0]
    text = first["text"].rpartition(" ")[0]
    heads, components = deviations["head"].nunique(), deviations["component"].nunique()
    return (
        f"{first['model']} ({str(first['revision'])[:12]}), sentences of {text}: O of the last token over "
        f"n = {first['n']} sequences a length. A layer's line is the geometric mean of {components} components of each "
        f"of {heads} heads; its exponent has a 95% t interval over lengths. P.E.: positional encoding. Fixed last "
        "token: the same in all sequences, unlike in the paper."
    )
