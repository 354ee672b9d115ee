"""How much of the accuracy each quantity inside the models explains."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from vanishing_variance.figures import style
from vanishing_variance.mechanism.explanation import GROUPINGS, QUANTITIES

COLOURS = dict(zip(GROUPINGS, (style.BLUE, style.ORANGE, style.GREEN), strict=True))
MARKERS = dict(zip(GROUPINGS, ("o", "s", "^"), strict=True))


def draw(explained: pd.DataFrame) -> Figure:
    """A panel a task and range, a row a quantity, a point a grouping: r2 and its 95% interval."""
    panels = list(explained.groupby(["range", "task"], sort=False))
    tasks = explained["task"].nunique()
    figure = Figure(figsize=(7.5, 1.2 + 2.5 * len(panels) / tasks), layout="constrained")
    axes = figure.subplots(len(panels) // tasks, tasks, sharex=True, sharey=True, squeeze=False).flat
    places = {name: len(QUANTITIES) - 1 - place for place, name in enumerate(QUANTITIES)}
    panels.sort(key=lambda panel: list(dict.fromkeys(explained["range"])).index(panel[0][0]))
    for panel, ((range_, task), of) in zip(axes, panels, strict=True):
        for shift, (grouping, points) in zip((0.25, 0, -0.25), of.groupby("grouping", sort=False), strict=True):
            drawn = points.dropna(subset="r2")
            height = drawn["quantity"].map(places) + shift
            error = [
                drawn["r2"] - drawn["r2_low"].fillna(drawn["r2"]),
                drawn["r2_high"].fillna(drawn["r2"]) - drawn["r2"],
            ]
            how = {"color": COLOURS[str(grouping)], "fmt": MARKERS[str(grouping)], "ms": 3.5, "lw": 1.2}
            panel.errorbar(drawn["r2"], height, xerr=error, label=grouping, **how)
        panel.set(title=f"{task}, {range_} range", xlim=(-0.02, 1.02))
        panel.set_yticks(list(places.values()), [QUANTITIES[name][0] for name in places], fontsize=7.5)
        panel.xaxis.set_major_formatter(PercentFormatter(1))
        panel.grid(axis="y", visible=False)
    for panel in list(axes)[-tasks:]:
        panel.set_xlabel("explained share of the accuracy, $r^2$")
    first = figure.axes[0]
    figure.legend(*first.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    seeds = explained["n"].max()
    style.caption(
        figure,
        f"Squared correlation with the accuracy within groups, up to n = {seeds} models × lengths; the bars are 95% "
        "intervals,\nby the bootstrap over seeds. Between models: of all normalisers, at one length.",
    )
    return figure
