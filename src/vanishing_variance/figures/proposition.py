"""Proposition 1: the variance of single features of O against the length, under the proposition's own assumptions."""

import pandas as pd
from matplotlib.ticker import NullLocator

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.study.markdown import drawn_power

# The band of features around their median.
LOW, HIGH = 0.1, 0.9
MEASURED = "measured"


def data(cells: pd.DataFrame) -> pd.DataFrame:
    """Return task, norm, length, n, and quantiles over features, relative to sigma_d^2, one item's variance.

    `median`, `low` and `high` of the variance; the medians of the delta method's, `predicted`, and of the `bound`.
    """
    quantities = ["variance", "predicted", "bound"]
    relative = cells.assign(**{name: cells[name] / cells["item_variance"] for name in quantities})
    groups = relative.groupby(["task", "norm", "length", "n"], sort=False)
    medians = groups[quantities].median().rename(columns={"variance": "median"})
    quantiles = {name: groups["variance"].quantile(q) for name, q in (("low", LOW), ("high", HIGH))}
    return medians.assign(**quantiles).reset_index()


def draw(cells: pd.DataFrame, exponents: pd.DataFrame) -> Drawing:
    """Draw a row a task, a column a normaliser (`none` first), of what the stage `proposition` wrote."""
    lines = data(cells)
    tasks, norms = lines["task"].unique(), lines["norm"].unique()
    figure = style.figure(0.65 + 1.9 * len(tasks))
    panels = figure.subplots(len(tasks), len(norms), sharex=True, sharey="row", squeeze=False)
    titles = []
    for row, task in zip(panels, tasks, strict=True):
        for axes, norm in zip(row, norms, strict=True):
            of = lines[(lines["task"] == task) & (lines["norm"] == norm)]
            look, lengths = variants.look(norm), of["length"]
            axes.plot(lengths, of["median"], **look, label=f"{MEASURED}, {variants.label(norm)}")
            axes.fill_between(lengths, of["low"], of["high"], color=look["color"], alpha=0.15, lw=0)
            axes.plot(
                lengths,
                of["predicted"],
                "-",
                lw=1,
                zorder=1.9,
                color=style.SERIES[2]["color"],
                label="limit, constant / N",
            )
            axes.plot(lengths, of["bound"], ":", lw=1.6, color=style.SERIES[0]["color"], label="the paper's bound")
            axes.plot(lengths, 1 / lengths, "-.", lw=0.8, color=style.GREY, label="uniform attention, 1 / N")
            fitted = exponents[(exponents["task"] == task) & (exponents["norm"] == norm)]["exponent"].median()
            titles.append(f"{task}, {variants.label(norm)}: exponent {fitted:.2f}".replace("-", "−"))
            axes.set_yscale("log")
            axes.yaxis.set_minor_locator(NullLocator())
            style.length_axis(axes, lengths)
            axes.label_outer()
        row[0].set_ylabel("variance of $O_d$ / $\\sigma_d^2$")
    style.letter(panels.flat, titles)
    handles = {
        label: handle for axes in panels[0] for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    labels = sorted(handles, key=lambda label: not label.startswith(MEASURED))
    figure.legend([handles[label] for label in labels], labels, loc="outside upper center", ncols=3)
    return Drawing(
        figure,
        "Proposition 1: variance of single features of the attention outputs O",
        f"One model a panel, n = {lines['n'].iloc[0]} sequences of i.i.d. items a length and one query, as the "
        f"proposition assumes; with a normaliser, O is its input. Lines are medians over {cells['feature'].nunique()} "
        f"features d, the band is their {LOW:.0%} to {HIGH:.0%} quantiles, each relative to σ², the variance of the "
        "same feature of the values V over single items. The limit is what the variance comes to as N grows: O is a "
        "ratio of two means over the items, of which only the linear part counts then (the delta method). Exponents "
        f"are medians over features of power laws fitted to N ≥ {drawn_power(int(exponents['tail'].iloc[0]))}.",
    )
