"""Figure 4: the largest attention weights of single sequences, at growing lengths."""

from itertools import cycle

import pandas as pd
from matplotlib.colors import LogNorm

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.columns import rows

# The colour scale is logarithmic from here to 1; smaller weights look like this one.
SMALLEST = 1e-3


def data(attention: dict[str, pd.DataFrame], lengths: list[int]) -> pd.DataFrame:
    """Return norm, length, sequence, rank (from 1, the largest), weight. `attention` are the diagnostics by norm."""
    weights = pd.concat(attention, names=["norm"]).reset_index("norm")
    shown = weights[weights["length"].isin(lengths)]
    return shown[["norm", "length", "sequence", "rank", "weight"]].reset_index(drop=True)


def draw(weights: pd.DataFrame, task: str) -> Drawing:
    """Draw a row a normaliser: a heatmap a length, a sequence a line, and the median of each by rank in the last panel.

    All heatmaps share one colour scale, which is the y axis of the medians.
    """
    largest, sequences = weights["rank"].max(), weights["sequence"].nunique()
    extent = (0.5, largest + 0.5, sequences + 0.5, 0.5)
    norms, lengths = weights["norm"].unique(), weights["length"].unique()
    figure = style.figure(0.8 + 1.7 * len(norms))
    grid = figure.subplots(len(norms), len(lengths) + 1, sharex=True, squeeze=False)
    for (*heatmaps, beside), norm in zip(grid, norms, strict=True):
        for axes, length, look in zip(heatmaps, lengths, cycle(style.SERIES), strict=False):
            shown = rows(weights, norm=norm, length=length)
            cells = shown.pivot(index="sequence", columns="rank", values="weight")
            cells = cells.reindex(columns=range(1, largest + 1))  # a short sequence has fewer
            image = axes.imshow(cells, norm=LogNorm(SMALLEST, 1, clip=True), aspect="auto", extent=extent)
            axes.grid(visible=False)
            axes.set(title=f"{variants.label(norm)}, N = {style.power(length)}", ylabel="sequence")
            axes.set(xlabel="rank of the weight")
            axes.label_outer()
            medians = cells.median().clip(lower=SMALLEST)
            beside.plot(medians.index, medians, **look, label=f"N = {style.power(length)}")
        beside.set(title=f"{variants.label(norm)}, median", yscale="log", ylim=(0.8 * SMALLEST, 1.25))
        beside.set(xlabel="rank of the weight" if norm == norms[-1] else "")
    style.letter(figure.axes)
    style.legend_above(figure, columns=len(lengths))
    figure.colorbar(image, ax=figure.axes, label="attention weight", shrink=0.8, pad=0.01, extend="min")
    caption = (
        f"{task}, the first seed's models: the {largest} largest attention weights of n = {sequences} sequences a "
        f"length, a sequence a line, and their medians over the sequences; weights below {SMALLEST:g} are drawn as it."
    )
    return Drawing(figure, "Figure 4: the largest attention weights", caption)
