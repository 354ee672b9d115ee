"""Accuracy against sequence length, every normaliser and temperature (Tables 1 to 6)."""

from collections.abc import Mapping

import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.study.results import by_seed
from vanishing_variance.study.runs import NORMS, TEMPERATURES

TITLES = {"plain": "plain softmax", "adaptive": "adaptive θ", "fitted": "fitted θ"}
MEANINGS = {
    "adaptive": " Adaptive θ: the paper's temperature at test time, from the entropy.",
    "fitted": " Fitted θ: the same, fitted to these models with labels at the test lengths.",
}


def data(accuracy: pd.DataFrame, tasks: tuple[str, ...], range_: str) -> pd.DataFrame:
    """Return task, temperature, norm, length, n, and the mean accuracy (%) over seeds with its 95% interval."""
    rows = []
    of_range = accuracy[accuracy["range"] == range_]
    for task in tasks:
        for temperature in TEMPERATURES:
            for norm in sorted(of_range["norm"].unique(), key=_order):
                seeds = by_seed(accuracy, task, range_, norm, temperature)
                for length in seeds.columns:
                    mean, low, high = interval(seeds[length].to_numpy())
                    rows.append((task, temperature, norm, int(length), len(seeds), mean, low, high))
    columns = ["task", "temperature", "norm", "length", "n", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _numbers(n: pd.Series) -> str:
    """Return how many seeds the curves have: one number, or the fewest and the most."""
    return str(n.min()) if n.min() == n.max() else f"{n.min()} to {n.max()}"


def _order(norm: str) -> tuple[int, str]:
    """Return the sort key by which the paper's normalisers come first, in its order."""
    return (NORMS.index(norm), "") if norm in NORMS else (len(NORMS), norm)


def roles(means: pd.DataFrame, task: str, norm: str) -> pd.DataFrame:
    """Return, for DVC's plots, a column a role: length, and the plain mean accuracy (%) of `none` and the treatment."""
    of = means.query("task == @task and temperature == 'plain' and norm in ['none', @norm]")
    wide = of.pivot(index="length", columns="norm", values="mean").rename(columns={norm: "norm"})
    return wide[["none", "norm"]].round(3).reset_index()


def draw(means: pd.DataFrame, trained: tuple[int, int], steps: Mapping[str, int]) -> Drawing:
    """Draw a panel a task and temperature, with the task's gradient `steps`; the lengths of training are shaded."""
    tasks, temperatures = means["task"].unique(), means["temperature"].unique()
    figure = style.figure(0.5 + 1.85 * len(tasks))
    panels = figure.subplots(len(tasks), len(temperatures), sharex=True, sharey=True, squeeze=False)
    for row, task in zip(panels, tasks, strict=True):
        for axes, temperature in zip(row, temperatures, strict=True):
            of = means[(means["task"] == task) & (means["temperature"] == temperature)]
            axes.axvspan(*trained, color=style.LIGHT, zorder=0, label="training lengths")
            for norm, line in of.groupby("norm", sort=False):
                look = variants.look(str(norm))
                axes.plot(line["length"], line["mean"], **look, label=variants.label(str(norm)))
                axes.fill_between(line["length"], line["low"], line["high"], color=look["color"], alpha=0.15, lw=0)
            style.length_axis(axes, of["length"].unique())
            axes.label_outer()
        row[0].set_ylabel("accuracy (%)")
    style.letter(panels.flat, (f"{task}, {TITLES[temperature]}" for task in tasks for temperature in temperatures))
    panels[0, 0].set_ylim(-2, 102)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
    done = " and ".join(f"{task} after {steps[task]:,} gradient steps" for task in tasks)
    return Drawing(
        figure,
        f"Accuracy against length, trained on up to {trained[1]} items",
        f"{done}; means over n = {_numbers(means['n'])} seeds, the band is the 95% t interval of the mean over seeds. "
        "None: no normaliser, the paper's baseline."
        + "".join(MEANINGS.get(temperature, "") for temperature in temperatures),
    )
