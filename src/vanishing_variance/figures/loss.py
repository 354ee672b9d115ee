"""Training loss against the gradient step."""

import pandas as pd
from matplotlib.ticker import MaxNLocator

from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing

# Points of a curve, or somewhat fewer: of more, the noise hides the curves.
POINTS = 100


def _averaged(runs: pd.DataFrame, width: int) -> pd.DataFrame:
    """Return the mean loss a seed over `width` steps at a time, a row a last step of those, a column a seed."""
    last = (-(-runs["step"] // width) * width).clip(upper=runs["step"].max())
    wide: pd.DataFrame = runs.groupby([last, "seed"])["loss"].mean().unstack()
    return wide


def draw(losses: pd.DataFrame, trained: Range) -> Drawing:
    """Draw a panel a task. `losses`: task, norm, seed, step, loss; `trained`: the training lengths."""
    tasks = losses["task"].unique()
    figure = style.figure(2.4)
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    widths = {}
    for axes, task in zip(panels, tasks, strict=True):
        of = losses[losses["task"] == task]
        widths[task] = int(of["step"].min()) * -(-of["step"].nunique() // POINTS)
        for norm, runs in of.groupby("norm", sort=False):
            look, seeds = variants.look(str(norm)) | {"marker": ""}, _averaged(runs, widths[task])
            axes.plot(seeds.index, seeds.mean(axis=1), **look, label=variants.label(str(norm)))
            axes.fill_between(seeds.index, seeds.min(axis=1), seeds.max(axis=1), color=look["color"], alpha=0.25, lw=0)
        axes.set(xlabel="gradient step", yscale="log")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter("{x:,.0f}")
    style.letter(panels, tasks)
    panels[0].set_ylabel("training loss (nats)")
    panels[0].legend()
    over = " and ".join(f"{width:,} steps on {task}" for task, width in widths.items())
    growth = trained.growth
    grows = (
        f" The longest training length grows from {growth.start} to {trained.longest} meanwhile: a loss that rises is "
        "that of longer sequences, on which accuracy is lower."
        if growth
        else ""
    )
    return Drawing(
        figure,
        f"Training loss, trained on up to {trained.longest} items",
        f"Means over {over}: lines over n = {losses['seed'].nunique()} seeds, bands from the lowest to the highest "
        f"seed.{grows}",
    )
