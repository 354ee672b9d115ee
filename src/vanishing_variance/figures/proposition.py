"""Proposition 1: the variance of single features of O against the length, under the proposition's own assumptions."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from vanishing_variance.figures import style

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


def draw(cells: pd.DataFrame, exponents: pd.DataFrame) -> Figure:
    """Draw a row a task, a column a normaliser (`none` first), of what the stage `proposition` wrote."""
    lines = data(cells)
    tasks, norms = lines["task"].unique(), lines["norm"].unique()
    tail = style.power(int(exponents["tail"].iloc[0]))
    figure = Figure(figsize=(7.5, 6.2), layout="constrained")
    panels = figure.subplots(len(tasks), len(norms), sharex=True, sharey="row", squeeze=False)
    for row, task in zip(panels, tasks, strict=True):
        for axes, norm in zip(row, norms, strict=True):
            of = lines[(lines["task"] == task) & (lines["norm"] == norm)]
            colour, lengths = style.colour(norm), of["length"]
            axes.plot(lengths, of["median"], "o-", ms=3, lw=1.4, color=colour, label="measured")
            axes.fill_between(lengths, of["low"], of["high"], color=colour, alpha=0.15, lw=0)
            axes.plot(lengths, of["predicted"], "--", lw=1.4, color=style.PURPLE, label="delta method, constant / N")
            axes.plot(lengths, of["bound"], ":", lw=1.8, color=style.GREEN, label="the paper's bound")
            axes.plot(lengths, 1 / lengths, "-", lw=0.8, color="#999999", label="1 / N: uniform attention")
            fitted = exponents[(exponents["task"] == task) & (exponents["norm"] == norm)]["exponent"].median()
            title = f"{task}, {style.label(norm)}: median exponent {fitted:.2f}".replace("-", "−")
            axes.set_title(f"{title}, N ≥ {tail}")
            axes.set_yscale("log")
            axes.yaxis.set_minor_locator(NullLocator())
            style.length_axis(axes, lengths)
            axes.label_outer()
        row[0].set_ylabel("variance of O$_d$ / σ$_d^2$")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    style.caption(
        figure,
        f"One model a panel, n = {lines['n'].iloc[0]} sequences a length: "
        f"i.i.d. items, one query, O before the normaliser.\n"
        f"Lines are medians over {cells['feature'].nunique()} features d, the band is their 10th to 90th percentile; "
        f"σ$_d^2$ is the variance of V$_d$ over single items.\n"
        f"Exponents are fitted to the lengths N ≥ {tail} alone.",
    )
    return figure
