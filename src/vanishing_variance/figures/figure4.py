"""Figure 4: the largest attention weights of single sequences, at growing lengths."""

import pandas as pd
from matplotlib.colors import LogNorm

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.markdown import drawn_power

# The colour scale is logarithmic from here to 1; smaller weights look like this one.
SMALLEST = 1e-3


def data(attention: dict[str, pd.DataFrame], lengths: list[int]) -> pd.DataFrame:
    """Return norm, length, sequence, rank (from 1, the largest), weight. `attention` are the diagnostics by norm."""
    parts = [frame[frame["length"].isin(lengths)].assign(norm=norm) for norm, frame in attention.items()]
    return pd.concat(parts, ignore_index=True)[["norm", "length", "sequence", "rank", "weight"]]


def draw(weights: pd.DataFrame, task: str) -> Drawing:
    """Draw a row a normaliser, a column a length; one line of a heatmap is one sequence. All share one colour scale."""
    norms, lengths = weights["norm"].unique(), weights["length"].unique()
    figure = style.figure(0.3 + 1.7 * len(norms))
    grid = figure.subplots(len(norms), len(lengths), squeeze=False)
    for axes, (_, of) in zip(grid.flat, weights.groupby(["norm", "length"], sort=False), strict=True):
        cells = of.pivot(index="sequence", columns="rank", values="weight")
        extent = (0.5, cells.shape[1] + 0.5, cells.shape[0] + 0.5, 0.5)
        axes.imshow(cells, norm=LogNorm(SMALLEST, 1, clip=True), cmap="viridis", aspect="auto", extent=extent)
        axes.grid(visible=False)
        axes.set(xlabel="rank of the weight", ylabel="sequence")
        axes.label_outer()
    style.letter(grid.flat, (f"{variants.label(norm)}, N = {style.power(n)}" for norm in norms for n in lengths))
    figure.colorbar(grid[0, 0].images[0], ax=grid, label="attention weight", shrink=0.8, pad=0.01, extend="min")
    last = weights[weights["length"] == lengths.max()]
    medians = last.groupby(["norm", "rank"], sort=False)["weight"].median().unstack()
    ends = " and ".join(
        f"{of.iloc[0]:.2g} and {of.iloc[-1]:.2g} ({variants.label(str(norm))})" for norm, of in medians.iterrows()
    )
    return Drawing(
        figure,
        "Figure 4: the largest attention weights",
        f"{task}, the model of the first seed of each variant: the {weights['rank'].max()} largest attention weights "
        f"of n = {weights['sequence'].nunique()} sequences a length, a sequence a line; weights below {SMALLEST:g} "
        f"look alike. At N = {drawn_power(int(lengths.max()))} the largest and the smallest of them, medians over "
        f"sequences, are {ends}.",
    )
