"""Shares of the lost accuracy by cause, against length."""

import pandas as pd
from matplotlib.ticker import PercentFormatter

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing, without_data
from vanishing_variance.measure.interventions.names import damaged
from vanishing_variance.results.columns import rows

# Look and label by kind and intervention of `results.shares`.
LINES = {
    ("Shapley", "target weight (feature moments)"): (style.SERIES[0], "attention weight of the target"),
    ("Shapley", "moments (feature moments)"): (style.SERIES[2], "mean and variance of every feature of O"),
    ("Shapley", "moments (global moments)"): (style.SERIES[3], "global mean and variance of O"),
    ("damage", damaged("feature")): (style.SERIES[5], "of every feature, long sequences' given to short ones"),
}
TITLE = "What the lost accuracy is due to, without a normaliser"
# Around the shares: what intervals have beyond that is cut.
MARGIN = 0.12


def draw(shares: pd.DataFrame, longest: int) -> Drawing:
    """Draw a panel a task, a line for each of LINES, of the models without a normaliser.

    `shares`: `results.shares.shares`, of which the short range's lengths that have a share are drawn;
    `longest`: the longest training length there.
    """
    shown = rows(shares, line="none").dropna(subset=["length", "share"]).assign(row="")
    if shown.empty:
        return without_data(TITLE, "No length has a share: accuracy falls by less than a point, or its fall may be 0.")
    lengths = sorted(shown["length"].astype(int).unique())
    figure, panels = style.facets(shown, "row", "task", margin=0.6, height=2.2)
    drawn = []
    for axes, _, task, of_task in panels:
        for end in (0, 1):
            axes.axhline(end, color=style.GREY, lw=0.6)
        for (kind, intervention), (look, label) in LINES.items():
            line = rows(of_task, kind=kind, intervention=intervention).set_index("length").reindex(lengths)
            axes.plot(line.index, line["share"], **look, label=label)
            style.band(axes, line["share_low"], line["share_high"], look["color"])
            drawn.append(line["share"])
        style.length_axis(axes, lengths)
        axes.set(title=task, xlabel="length N (items)", ylabel="share of the lost accuracy")
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.label_outer()
    every = pd.concat(drawn)
    figure.axes[0].set_ylim(every.min() - MARGIN, every.max() + MARGIN)
    style.legend_above(figure, columns=2)
    seeds = variants.seeds(shown["n"])
    style.note(figure, f"n = {seeds} seeds, no normaliser; bands: 95% intervals over seeds, cut at the panel's edge")
    caption = (
        f"Trained on up to {longest} items, n = {seeds} seeds; bands: 95% intervals over seeds (Fieller), cut at the "
        "panel's edge. Lengths that lose less than a point, or whose loss may be 0, are left out. Solid, dash-dotted: "
        "Shapley shares of what comes back when quantities are reset to those of the training lengths. Dotted: what "
        "short sequences lose when every feature of O is given the mean and variance of long ones."
    )
    return Drawing(figure, TITLE, caption)
