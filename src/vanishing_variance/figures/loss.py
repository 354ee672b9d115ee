"""Training loss of every seed."""

import pandas as pd
from matplotlib.ticker import MaxNLocator

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing


def data(losses: pd.DataFrame, task: str, norm: str) -> pd.DataFrame:
    """Return, for DVC's plots, a column a role: step, and the mean loss (nats) of `none` and the treatment."""
    of = losses[losses["task"] == task]
    wide = of.pivot_table(index="step", columns="norm", values="loss", aggfunc="mean").rename(columns={norm: "norm"})
    return wide[["none", "norm"]].round(6).reset_index()


def draw(losses: pd.DataFrame, longest: int) -> Drawing:
    """Draw a panel a task. `losses`: task, norm, seed, step, loss; `longest`: the longest training length."""
    tasks = losses["task"].unique()
    figure = style.figure(2.4)
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        of = losses[losses["task"] == task]
        for norm, runs in of.groupby("norm", sort=False):
            look = variants.look(str(norm)) | {"marker": ""}
            for _, run in runs.groupby("seed"):
                axes.plot(run["step"], run["loss"], lw=0.4, alpha=0.35, color=look["color"])
            mean = runs.groupby("step")["loss"].mean()
            axes.plot(mean.index, mean, **look | {"lw": 1.6}, label=variants.label(str(norm)))
        axes.set(xlabel="gradient step", yscale="log")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter("{x:,.0f}")
    style.letter(panels, tasks)
    panels[0].set_ylabel("training loss (nats)")
    panels[0].legend()
    return Drawing(
        figure,
        f"Training loss, trained on up to {longest} items",
        f"Thin lines are each of n = {losses['seed'].nunique()} seeds, means over every {losses['step'].min()} steps; "
        "thick lines are the means over seeds.",
    )
