"""The shares of the lost accuracy that interventions recover and reproduce, against length."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from vanishing_variance.figures import style
from vanishing_variance.study.interventions import (
    AVERAGED,
    HARD,
    PLACES,
    TARGET,
    TRAINED_TARGET,
    TRAINED_TARGET_AVERAGED,
    damaged,
    kept_long,
    restored,
)

# Kind -> intervention -> colour, marker, label. What acts on O acts before the normaliser here.
LINES = {
    "recovered": {
        TARGET: (style.BLUE, "o", "target weight"),
        kept_long("feature"): (style.SKY, "D", "target weight, but the feature\nmoments of the long length"),
        restored("feature"): (style.ORANGE, "s", "feature moments"),
        restored("global"): (style.BLACK, "^", "global moments"),
        AVERAGED: (style.GREEN, "v", "distractors averaged"),
        HARD: (style.PURPLE, "x", "hard attention"),
    },
    "damage": {
        TRAINED_TARGET: (style.BLUE, "o", "target weight"),
        TRAINED_TARGET_AVERAGED: (style.GREEN, "v", "target weight,\ndistractors averaged"),
        damaged("feature"): (style.ORANGE, "s", "feature moments"),
        damaged("global"): (style.BLACK, "^", "global moments"),
    },
}
LABELS = {
    "recovered": "set right on long sequences:\nshare of the loss recovered",
    "damage": "set wrong on training lengths:\nshare of the loss reproduced",
}
LIMITS = {"recovered": (-0.25, 1.35), "damage": (-0.25, 2.25)}


def draw(shares: pd.DataFrame, range_: str = "short") -> Figure:
    """Draw a row of panels a kind, a column a task and variant (`none`, `ln` or the treatment); a line an intervention.

    `shares`: metrics/interventions-shares.csv, of which lengths without a share are left out.
    """
    of = shares[(shares["range"] == range_) & (shares["scope"] == "length")].dropna(subset="share")
    of = of[(of["where"] != PLACES[1]) & (of["norm"] != "std")]
    pairs = [(str(task), str(norm)) for task, norm in of[["task", "norm"]].drop_duplicates().to_numpy()]
    columns = sorted(pairs, key=lambda pair: (pair[0], pair[1] != "none"))
    figure = Figure(figsize=(10.5, 6.0), layout="constrained")
    panels = figure.subplots(len(LINES), max(1, len(columns)), sharex=True, sharey="row", squeeze=False)
    for row, (kind, lines) in zip(panels, LINES.items(), strict=True):
        for axes, (task, norm) in zip(row, columns, strict=False):
            _panel(axes, of[(of["task"] == task) & (of["norm"] == norm) & (of["kind"] == kind)], lines)
            axes.set_title(f"{task}, {style.label(norm)}")
            style.length_axis(axes, shares["length"].dropna().astype(int).unique())
            axes.set_xlabel("length N (items)")
            axes.label_outer()
        row[0].set_ylabel(LABELS[kind])
        row[0].set_ylim(*LIMITS[kind])
        row[0].yaxis.set_major_formatter(PercentFormatter(1))
        if columns:
            row[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7.5)
    seeds = of["n"].max() if len(of) else 0
    style.caption(
        figure,
        f"Trained on the {range_} range, n = {seeds} seeds; the band is the 95% interval over seeds (Fieller).\n"
        "Lengths at which less than a point of accuracy is lost, or the loss may be 0, are left out.",
    )
    return figure


def _panel(axes: Axes, of: pd.DataFrame, lines: dict[str, tuple[str, str, str]]) -> None:
    for height in (0, 1):
        axes.axhline(height, color="#888888", lw=0.8)
    for name, (colour, marker, label) in lines.items():
        line = of[of["intervention"] == name].sort_values("length")
        axes.plot(line["length"], line["share"], marker=marker, ms=3.5, lw=1.3, color=colour, label=label)
        low, high = (line[f"share_{end}"].astype(float) for end in ("low", "high"))
        axes.fill_between(line["length"], low, high, color=colour, alpha=0.15, lw=0)
