"""Figure 2: individual features of the attention outputs O at growing lengths, before and after the normaliser."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from vanishing_variance.figures import style

BINS = 80


def data(features: dict[str, pd.DataFrame], lengths: list[int]) -> pd.DataFrame:
    """Return densities of each feature over sequences: panel, length, feature, n, value (a bin's centre), density.

    `features` are the diagnostics' features by norm, `none` first. The bins of a panel are shared by its lengths and
    features, so that they can be compared: 0.1% of the values at either end may lie outside.
    """
    parts = []
    for norm, frame in features.items():
        for where in ("before", "after") if norm != "none" else ("before",):
            of = frame[(frame["where"] == where) & frame["length"].isin(lengths)]
            low, high = (float(of["value"].quantile(tail)) for tail in (0.001, 0.999))
            edges = np.linspace(low, high, BINS + 1)
            for (length, feature), values in of.groupby(["length", "feature"])["value"]:
                counts, _ = np.histogram(values, edges)
                columns = {
                    "panel": "none: O" if norm == "none" else f"{norm}: O {where} the normaliser",
                    "length": length,
                    "feature": feature,
                    "n": len(values),
                    "value": (edges[1:] + edges[:-1]) / 2,
                    "density": counts / len(values) / np.diff(edges),
                }
                parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def draw(densities: pd.DataFrame, task: str) -> Figure:
    """Draw a row a panel (`none` above), a column a length; one colour a feature."""
    panels, lengths = densities["panel"].unique(), densities["length"].unique()
    figure = Figure(figsize=(7.5, 1.9 * len(panels) + 0.6), layout="constrained")
    grid = figure.subplots(len(panels), len(lengths), sharex="row", squeeze=False)
    for row, panel in zip(grid, panels, strict=True):
        for axes, length in zip(row, lengths, strict=True):
            of = densities[(densities["panel"] == panel) & (densities["length"] == length)]
            for (_, line), colour in zip(of.groupby("feature"), style.FEATURES, strict=False):
                axes.fill_between(line["value"], line["density"], step="mid", color=colour, alpha=0.45, lw=0)
                axes.step(line["value"], line["density"], where="mid", color=colour, lw=0.8)
            axes.set_ylim(bottom=0)
            axes.set_title(f"{panel}, N = {style.power(length)}", fontsize=8)
            axes.tick_params(labelsize=7)
        row[0].set_ylabel("density")
    for axes in grid[-1]:
        axes.set_xlabel("value of the feature")
    style.caption(
        figure,
        f"{task}, one model: {densities['feature'].nunique()} features of O (one colour each) over "
        f"n = {densities['n'].iloc[0]} sequences a length. Panels of a row share the x axis.",
    )
    return figure
