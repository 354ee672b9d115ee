"""Figure 2: individual features of the attention outputs O at growing lengths, with and without a normaliser."""

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.colors import to_rgba
from scipy.stats import norm as gaussian

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.markdown import drawn_power

POINTS = 120
# Of the distance between two features, how high the highest density of a panel is.
HEIGHT = 0.9

Values = Float[np.ndarray, " _"]


def data(features: dict[str, pd.DataFrame], lengths: list[int]) -> pd.DataFrame:
    """Return densities of each feature over sequences: norm, panel, length, feature, n, value, density.

    `features` are the diagnostics' features by norm, `none` first. Features differ by orders of magnitude: each
    `value` is less the feature's mean at the shortest length, and in units of its standard deviation there. Densities
    are Gaussian kernel estimates at the same values in all panels, beyond which 0.5% of a feature's may lie at either
    end.
    """
    shown = pd.concat([_standardised(frame, norm, lengths) for norm, frame in features.items()], ignore_index=True)
    keys, parts = ["norm", "panel", "length", "feature"], []
    of_each = shown.groupby(keys, sort=False)["value"]
    grid = np.linspace(of_each.quantile(0.005).min() - 0.5, of_each.quantile(0.995).max() + 0.5, POINTS)
    for names, values in of_each:
        columns = {"n": len(values), "value": grid, "density": _density(values.to_numpy(dtype=float), grid)}
        parts.append(pd.DataFrame(dict(zip(keys, names, strict=True)) | columns))
    # The last bits of exponentials differ between processors.
    return pd.concat(parts, ignore_index=True).round({"value": 4, "density": 5})


def _standardised(frame: pd.DataFrame, norm: str, lengths: list[int]) -> pd.DataFrame:
    """Return norm, panel, length, feature, and the value in terms of the shortest length; of `none` O alone."""
    panels = {"before": f"{variants.label(norm)}: O", "after": f"{variants.label(norm)}: {variants.normalised(norm)}"}
    of = frame[frame["length"].isin(lengths)].assign(norm=norm, panel=frame["where"].map(panels))
    of = of[of["where"] == "before"] if norm == "none" else of.sort_values("where", ascending=False, kind="stable")
    first = of[of["length"] == min(lengths)].groupby(["panel", "feature"])["value"].agg(["mean", "std"])
    of = of.join(first, on=["panel", "feature"])
    return of.assign(value=(of["value"] - of["mean"]) / of["std"].where(of["std"] > 0, 1))


def _density(values: Values, grid: Values) -> Values:
    """Return Gaussian kernels of Scott's width, or as narrow as the grid shows."""
    width = max(values.std() * len(values) ** -0.2, grid[1] - grid[0])
    density: Values = gaussian.pdf(grid[:, None], values, width).mean(axis=1)
    return density


def draw(densities: pd.DataFrame, task: str) -> Drawing:
    """Draw a row a panel (`none` above), a column a length; a feature above another."""
    panels, lengths = densities["panel"].unique(), densities["length"].unique()
    figure = style.figure(0.3 + 1.45 * len(panels))
    grid = figure.subplots(len(panels), len(lengths), sharex=True, sharey=True, squeeze=False)
    for axes, (_, of) in zip(grid.flat, densities.groupby(["panel", "length"], sort=False), strict=True):
        colour, scale = variants.colour(of["norm"].iloc[0]), HEIGHT / of["density"].max()
        features = sorted(of["feature"].unique(), reverse=True)
        for feature in features:
            line = of[of["feature"] == feature]
            place, above = feature + 1, -scale * line["density"]
            fill = {"facecolor": to_rgba(colour, 0.3), "edgecolor": colour, "lw": 0.6, "zorder": 2}
            axes.fill_between(line["value"], place, place + above, **fill)
        axes.set(xlabel="standardised value", ylabel="feature", yticks=[feature + 1 for feature in features])
        axes.label_outer()
    grid[0, 0].invert_yaxis()
    style.letter(grid.flat, (f"{panel}, N = {style.power(length)}" for panel in panels for length in lengths))
    first = drawn_power(lengths.min())
    return Drawing(
        figure,
        "Figure 2: distribution of single features of the attention outputs O",
        f"{task}, the model of the first seed of each variant: {densities['feature'].nunique()} features over "
        f"n = {densities['n'].iloc[0]} sequences a length, as Gaussian kernel densities; heights compare within a "
        f"panel. Values are standardised by feature, with its mean and standard deviation at N = {first}: a feature "
        "that kept its distribution would look the same in every column.",
    )
