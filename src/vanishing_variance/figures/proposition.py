"""Proposition 1: the variance of single features of O against the length, under the proposition's own assumptions."""

import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.markdown import drawn_power

# The band of features around their median.
LOW, HIGH = 0.1, 0.9


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
    bound, _, predicted, *_ = (look["color"] for look in style.SERIES)
    fitted = exponents.groupby(["task", "norm"])["exponent"].median().to_dict()
    titles = []
    for axes, ((task, name), of) in zip(panels.flat, lines.groupby(["task", "norm"], sort=False), strict=True):
        norm, lengths = str(name), of["length"]
        look, label = variants.look(norm), variants.label(norm)
        titles.append(f"{task}, {label}: exponent {fitted[task, norm]:.2f}".replace("-", "−"))
        axes.plot(lengths, of["median"], **look, label=f"measured, {label}")
        axes.fill_between(lengths, of["low"], of["high"], color=look["color"], alpha=0.15, lw=0)
        axes.plot(lengths, of["predicted"], "-", lw=1, zorder=1.9, color=predicted, label="limit, constant / N")
        axes.plot(lengths, of["bound"], ":", lw=1.6, color=bound, label="the paper's bound")
        axes.plot(lengths, 1 / lengths, "-.", lw=0.8, color=style.GREY, label="uniform attention, 1 / N")
        style.length_axis(axes, lengths)
        axes.set(yscale="log", ylabel="variance of $O_d$ / $\\sigma_d^2$")
        axes.minorticks_off()
        axes.label_outer()
    style.letter(panels.flat, titles)
    # the measured lines first, and one of each of the others
    alike = zip(*(axes.lines for axes in panels[0]), strict=True)
    handles = {line.get_label(): line for lines_alike in alike for line in lines_alike}
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=3)
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
