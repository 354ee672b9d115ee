"""Figure 2: individual features of the attention outputs O at growing lengths, with and without a normaliser."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgba
from scipy.stats import norm as gaussian

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.numbers import drawn_power
from vanishing_variance.results.columns import rows

KEYS = ["norm", "panel", "length", "feature"]
POINTS = 120
# Of the distance between two features, how high the highest density of a panel is.
HEIGHT = 0.9


def data(features: dict[str, pd.DataFrame], lengths: list[int]) -> pd.DataFrame:
    """Return densities of each feature over sequences: norm, panel, length, feature, n, value, density.

    `features` are the diagnostics' features by norm, `none` first. Features differ by orders of magnitude: each
    `value` is less the feature's mean at the shortest length, and in units of its standard deviation there. Densities
    are Gaussian kernel estimates at the same values in all panels, beyond which 0.5% of a feature's may lie at either
    end.
    """
    standardised = [_standardised(frame, norm, lengths) for norm, frame in features.items()]
    shown = pd.concat(standardised, ignore_index=True)
    groups = shown.groupby(KEYS, sort=False)["value"]
    lowest = groups.quantile(0.005).min() - 0.5
    highest = groups.quantile(0.995).max() + 0.5
    grid = np.linspace(lowest, highest, POINTS)
    parts = []
    for names, values in groups:
        of_feature = values.to_numpy(dtype=float)
        # Gaussian kernels of Scott's width, or as narrow as the grid shows
        width = max(of_feature.std() * len(of_feature) ** -0.2, grid[1] - grid[0])
        density = gaussian.pdf(grid[:, None], of_feature, width).mean(axis=1)
        part = pd.DataFrame([names] * POINTS, columns=KEYS)
        parts.append(part.assign(n=len(values), value=grid, density=density))
    # The last bits of exponentials differ between processors.
    return pd.concat(parts, ignore_index=True).round({"value": 4, "density": 5})


def _standardised(features: pd.DataFrame, norm: str, lengths: list[int]) -> pd.DataFrame:
    """Return norm, panel, length, feature, and the value in terms of the shortest length; of `none` O alone."""
    name = variants.label(norm)
    panels = {"before": f"{name}: O", "after": f"{name}: {variants.normalised(norm)}"}
    if norm == "none":
        del panels["after"]
    shown = features[features["length"].isin(lengths) & features["where"].isin(list(panels))]
    shown = shown.sort_values("where", ascending=False, kind="stable")  # before, then after
    shown = shown.assign(norm=norm, panel=shown["where"].map(panels))
    shortest = rows(shown, length=min(lengths))
    moments = shortest.groupby(["panel", "feature"])["value"].agg(["mean", "std"])
    shown = shown.join(moments, on=["panel", "feature"])
    scale = shown["std"].where(shown["std"] > 0, 1)
    centred = shown["value"] - shown["mean"]
    return shown.assign(value=centred / scale)


def draw(densities: pd.DataFrame, task: str) -> Drawing:
    """Draw a row a panel (`none` above), a column a length; a feature above another."""
    features = sorted(densities["feature"].unique(), reverse=True)
    figure, panels = style.facets(densities, "panel", "length", margin=0.3, height=1.45)
    for axes, panel, length, shown in panels:
        colour = variants.look(shown["norm"].iloc[0])["color"]
        scale = HEIGHT / shown["density"].max()
        for feature in features:
            line = rows(shown, feature=feature)
            baseline = feature + 1
            # the y axis points down
            top = baseline - scale * line["density"]
            axes.fill_between(line["value"], baseline, top, facecolor=to_rgba(colour, 0.3), edgecolor=colour, lw=0.6)
        axes.set(title=f"{panel}, N = {style.power(length)}", xlabel="standardised value", ylabel="feature")
        axes.set_yticks([feature + 1 for feature in features])
        axes.label_outer()
    figure.axes[0].invert_yaxis()
    style.letter(figure.axes)
    caption = (
        f"{task}, the first seed's models: densities of {len(features)} features over n = {densities['n'].iloc[0]:,} "
        "sequences a length; heights compare within a panel. Each feature is standardised by its mean and standard "
        f"deviation at N = {drawn_power(densities['length'].min())}. Some means move up and some down: the sign of a "
        "feature is arbitrary."
    )
    return Drawing(figure, "Figure 2: distribution of single features of the attention outputs O", caption)
