"""Figure 4: the largest attention weights of single sequences, at growing lengths."""

import pandas as pd
from matplotlib.colors import LogNorm

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing

# The colour scale is logarithmic from here to 1; smaller weights look like this one.
SMALLEST = 1e-3


def data(attention: dict[str, pd.DataFrame], lengths: list[int]) -> pd.DataFrame:
    """Return norm, length, sequence, rank (from 1, the largest), weight. `attention` are the diagnostics by norm."""
    weights = pd.concat(attention, names=["norm"]).reset_index("norm")
    shown = weights[weights["length"].isin(lengths)]
    return shown[["norm", "length", "sequence", "rank", "weight"]].reset_index(drop=True)


def draw(weights: pd.DataFrame, task: str) -> Drawing:
    """Draw a row a normaliser, a column a length; one line of a heatmap is one sequence. All share one colour scale."""
    largest, sequences = weights["rank"].max(), weights["sequence"].nunique()
    extent = (0.5, largest + 0.5, sequences + 0.5, 0.5)
    figure, panels = style.facets(weights, "norm", "length", margin=0.3, height=1.7)
    for axes, norm, length, shown in panels:
        cells = shown.pivot(index="sequence", columns="rank", values="weight")
        image = axes.imshow(cells, norm=LogNorm(SMALLEST, 1, clip=True), aspect="auto", extent=extent)
        axes.grid(visible=False)
        title = f"{variants.label(norm)}, N = {style.power(length)}"
        axes.set(title=title, xlabel="rank of the weight", ylabel="sequence")
        axes.label_outer()
    style.letter(figure.axes)
    figure.colorbar(image, ax=figure.axes, label="attention weight", shrink=0.8, pad=0.01, extend="min")
    caption = (
        f"{task}, the model of the first seed of each variant: the {largest} largest attention weights of "
        f"n = {sequences} sequences a length, a sequence a line; weights below {SMALLEST:g} look alike."
    )
    return Drawing(figure, "Figure 4: the largest attention weights", caption)
