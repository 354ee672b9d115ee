"""Training loss of every seed."""

import pandas as pd
from matplotlib.figure import Figure

from vanishing_variance.figures import style


def data(losses: pd.DataFrame, task: str, norm: str) -> pd.DataFrame:
    """Return, for DVC's plots, a column a role: step, and the mean loss (nats) of `none` and the treatment."""
    of = losses[losses["task"] == task]
    wide = of.pivot_table(index="step", columns="norm", values="loss", aggfunc="mean").rename(columns={norm: "norm"})
    return wide[["none", "norm"]].round(6).reset_index()


def draw(losses: pd.DataFrame) -> Figure:
    """Draw a panel a task. `losses`: task, norm, seed, step, loss."""
    tasks = losses["task"].unique()
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        of = losses[losses["task"] == task]
        for norm, runs in of.groupby("norm", sort=False):
            colour = style.colour(str(norm))
            for _, run in runs.groupby("seed"):
                axes.plot(run["step"], run["loss"], lw=0.5, alpha=0.35, color=colour)
            mean = runs.groupby("step")["loss"].mean()
            axes.plot(mean.index, mean, lw=1.8, color=colour, label=style.label(str(norm)))
        axes.set(title=task, xlabel="gradient step", yscale="log")
    panels[0].set_ylabel("training loss (nats)")
    panels[0].legend()
    seeds = losses["seed"].nunique()
    every = losses["step"].min()
    style.caption(
        figure, f"Thin: each of n = {seeds} seeds, mean over every {every} steps; thick: the mean over seeds."
    )
    return figure
