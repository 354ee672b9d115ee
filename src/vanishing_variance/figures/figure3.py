"""Figure 3: drift of the global mean and decay of the global variance of the attention outputs O."""

import pandas as pd
from matplotlib.ticker import FuncFormatter

from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.numbers import drawn_power
from vanishing_variance.results.columns import rows

# Standard deviations up and down that (a) shows at least, so that what hardly drifts looks like it.
DRIFT = 0.02
# Of `data`, the columns of DVC's plot in dvc.yaml.
PLOTTED = ["length", "none_variance", "norm_before_variance", "norm_after_variance"]


def data(moments: dict[str, pd.DataFrame], trained: Range) -> pd.DataFrame:
    """Return each line by length, relative to the reference: the longest test length that was trained on.

    Columns: length, and for each of `none`, `norm_before` and `norm_after`: `drift`, the global mean minus that at the
    reference length, in units of the root of the global variance there; `variance`, the global variance over that at
    the reference length; `drift_se` and `variance_se`, their standard errors over sequences; and `sigma`,
    the root of the global variance as it is, to hold epsilon against.

    Without a test length that was trained on, the shortest is the reference. `moments` are the diagnostics' by norm.
    """
    none, norm = moments.values()
    lines = [
        _relative(none, "before", trained).add_prefix("none_"),
        _relative(norm, "before", trained).add_prefix("norm_before_"),
        _relative(norm, "after", trained).add_prefix("norm_after_"),
    ]
    return pd.concat(lines, axis=1).reset_index()


def _relative(moments: pd.DataFrame, where: str, trained: Range) -> pd.DataFrame:
    outputs = rows(moments, where=where).set_index("length").sort_index()
    of_training = outputs.loc[trained.shortest : trained.longest]
    reference = of_training.iloc[-1] if len(of_training) else outputs.iloc[0]
    sigma = reference["variance"] ** 0.5
    drift = outputs["mean"] - reference["mean"]
    drift_se = (outputs["mean_se"] ** 2 + reference["mean_se"] ** 2) ** 0.5
    line = pd.DataFrame({"drift": drift / sigma})
    line["drift_se"] = drift_se.where(drift != 0, 0) / sigma
    line["sigma"] = outputs["variance"] ** 0.5
    line["variance"] = outputs["variance"] / reference["variance"]
    line["variance_se"] = outputs["variance_se"] / reference["variance"]
    return line


def draw(lines: pd.DataFrame, task: str, norm: str, sequences: int, trained: Range) -> Drawing:
    """Draw the drift of the global mean (left) and the decay of the global variance (right); `lines`: of `data`."""
    reference = rows(lines, none_variance=1)["length"].iloc[0]
    is_trained = trained.shortest <= reference <= trained.longest
    of, subscript = ("longest trained", "trained") if is_trained else ("shortest", "shortest")
    figure = style.figure(2.6)
    left, right = panels = figure.subplots(1, 2)
    by_length = lines.set_index("length")
    outputs = {"none": ("none", "O"), "norm_before": (norm, "O"), "norm_after": (norm, variants.normalised(norm))}
    for line, (variant, name) in outputs.items():
        look = variants.look(variant)
        fill = "white" if line == "norm_after" else look["color"]
        for axes, quantity in ((left, "drift"), (right, "variance")):
            value = by_length[f"{line}_{quantity}"]
            margin = 1.96 * by_length[f"{line}_{quantity}_se"]
            axes.plot(value.index, value, **look, mfc=fill, label=f"{variants.label(variant)}: {name}")
            style.band(axes, value - margin, value + margin, look["color"])
    bottom, top = left.get_ylim()
    left.set(title="drift of the global mean", ylabel="drift (standard deviations)")
    left.set(ylim=(min(bottom, -DRIFT), max(top, DRIFT)))
    right.set(title="decay of the global variance", ylabel=f"variance / variance$_{{{subscript}}}$", yscale="log")
    style.log_ticks(right.yaxis, FuncFormatter(lambda value, _: f"{100 * value:g}%"))
    for axes in panels:
        style.length_axis(axes, by_length.index)
    style.letter(panels)
    style.legend_above(figure, columns=3)
    caption = (
        f"{task}, the first seed's models: mean and variance over the features of an output, means over "
        f"n = {sequences:,} sequences a length; the band is ±1.96 standard errors. All is relative to the {of} "
        f"test length, N = {drawn_power(reference)}: the drift in standard deviations there, where the paper "
        "divides by the variance. In (b) the global variance is that of single features, which vanishes, plus that "
        "between their means, which need not. So O keeps its variance where the means of its features lie far apart; "
        "ln's learned scale can remove the part between means from LayerNorm(O)."
    )
    title = "Figure 3: drift of the global mean and decay of the global variance of the attention outputs O"
    return Drawing(figure, title, caption)
