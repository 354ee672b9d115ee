"""Training loss against the gradient step."""

from math import ceil

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.columns import rows
from vanishing_variance.results.runs import norm_of

# Points of a curve, or somewhat fewer: of more, the noise hides the curves.
POINTS = 100


def data(losses: pd.DataFrame) -> pd.DataFrame:
    """Return task, line, seed, step and the mean loss since the step before, of at most POINTS steps a task."""
    keys = ["task", "line", "seed", "step"]
    parts = []
    for _, of_task in losses.groupby("task", sort=False):
        recorded = of_task["step"].unique()
        width = recorded.min() * ceil(len(recorded) / POINTS)
        last = np.ceil(of_task["step"] / width).astype(int) * width
        parts.append(of_task.assign(step=last.clip(upper=recorded.max())))
    means = pd.concat(parts).groupby(keys, sort=False)["loss"].mean()
    return means.reset_index()


def draw(losses: pd.DataFrame, trained: Range) -> Drawing:
    """Draw a panel a task. `losses`: of `data`; `trained`: the training lengths."""
    tasks = losses["task"].unique()
    figure = style.figure(2.4)
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    widths = []
    for axes, task in zip(panels, tasks, strict=True):
        of_task = rows(losses, task=task)
        widths.append(f"{of_task['step'].min():,} steps on {task}")
        for line in of_task["line"].unique():
            seeds = rows(of_task, line=line).pivot(index="step", columns="seed", values="loss")
            look = variants.look(norm_of(line)) | {"marker": ""}
            axes.plot(seeds.index, seeds.mean(axis=1), **look, label=variants.label(norm_of(line)))
            style.band(axes, seeds.min(axis=1), seeds.max(axis=1), look["color"])
        axes.set(title=task, xlabel="gradient step", ylabel="training loss (nats)", yscale="log")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.label_outer()
    style.letter(panels)
    panels[0].legend()
    caption = (
        f"Means over {' and '.join(widths)}: lines over n = {losses['seed'].nunique()} seeds, bands from the lowest to "
        "the highest seed."
    )
    if trained.growth:
        caption += " Training lengths grow meanwhile: a loss that rises is that of longer sequences."
    return Drawing(figure, f"Training loss, trained on up to {trained.longest} items", caption)
