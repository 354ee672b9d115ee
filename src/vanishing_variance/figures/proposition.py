"""Proposition 1: the variance of single features of O against the length, under the proposition's own assumptions."""

import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.numbers import drawn_power
from vanishing_variance.measure.proposition.summary import HIGH, LOW


def draw(lines: pd.DataFrame, exponents: pd.DataFrame) -> Drawing:
    """Draw a row a task, a column a normaliser (`none` first), of `lines` and `exponents` of `proposition.summary`."""
    figure, panels = style.facets(lines, "task", "line", margin=0.65, height=1.9, sharey="row")
    medians = exponents.groupby(["task", "line"])["exponent"].median()
    bound, _, limit, *_ = style.SERIES
    for axes, task, norm, shown in panels:
        line = shown.set_index("length")
        look, label = variants.look(norm), variants.label(norm)
        axes.plot(line.index, line["median"], **look, label=f"measured, {label}")
        style.band(axes, line["low"], line["high"], look["color"])
        axes.plot(line.index, line["predicted"], lw=1, zorder=1.9, color=limit["color"], label="limit, constant / N")
        axes.plot(line.index, line["bound"], ":", lw=1.6, color=bound["color"], label="the paper's bound")
        axes.plot(line.index, 1 / line.index, "-.", lw=0.8, color=style.GREY, label="uniform attention, 1 / N")
        style.length_axis(axes, line.index)
        exponent = f"{medians.loc[(task, norm)]:.2f}".replace("-", "−")
        axes.set(title=f"{task}, {label}: exponent {exponent}", yscale="log")
        axes.set_ylabel(r"variance of $O_d$ / $\sigma_d^2$")
        axes.minorticks_off()
        axes.label_outer()
    style.letter(figure.axes)
    style.legend_above(figure, columns=3)
    tail = int(exponents["tail"].iloc[0])
    caption = (
        f"One model and one query a panel, n = {lines['n'].iloc[0]} sequences of i.i.d. items a length. Lines: medians "
        f"over {exponents['feature'].nunique()} features d of O (the normaliser's input); band: their {LOW:.0%} to "
        f"{HIGH:.0%} quantiles; σ²: the variance of V over items. The limit is by the delta method. Exponents: medians "
        f"of power laws at N ≥ {drawn_power(tail)}."
    )
    return Drawing(figure, "Proposition 1: variance of single features of the attention outputs O", caption)
