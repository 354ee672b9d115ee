"""Accuracy against sequence length, every normaliser and temperature (Tables 1 to 6)."""

from collections.abc import Mapping
from itertools import product

import pandas as pd
from matplotlib.lines import Line2D

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.runs import NORMS, TEMPERATURES
from vanishing_variance.results.accuracy import by_seed
from vanishing_variance.statistics.intervals import interval

TITLES = {"plain": "plain softmax", "adaptive": "adaptive θ", "fitted": "fitted θ"}
MEANINGS = {
    "adaptive": " Adaptive θ: the paper's temperature at test time, from the entropy.",
    "fitted": " Fitted θ: the same, fitted to the other half of the seeds, with labels at the test lengths.",
}


def data(accuracy: pd.DataFrame, tasks: tuple[str, ...], range_: str) -> pd.DataFrame:
    """Return task, temperature, norm, length, n, and the mean accuracy (%) over seeds with its 95% interval."""
    found = set(accuracy.loc[accuracy["range"] == range_, "norm"])
    norms = [*(norm for norm in NORMS if norm in found), *sorted(found.difference(NORMS))]
    rows = []
    for task, temperature, norm in product(tasks, TEMPERATURES, norms):
        for length, seeds in by_seed(accuracy, task, range_, norm, temperature).items():
            rows.append((task, temperature, norm, length, len(seeds), *interval(seeds.to_numpy())))
    columns = ["task", "temperature", "norm", "length", "n", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def papers(reference: pd.DataFrame, range_: str) -> pd.DataFrame:
    """Return the surviving mean accuracies (%) of the paper on one range: task, temperature, norm, length, mean."""
    found = reference[(reference["quantity"] == "accuracy_pct") & (reference["range"] == range_)]
    columns = {"variant": "norm", "value": "mean"}
    return found.rename(columns=columns)[["task", "temperature", "norm", "length", "mean"]].dropna()


def draw(means: pd.DataFrame, paper: pd.DataFrame, trained: tuple[int, int], steps: Mapping[str, int]) -> Drawing:
    """Draw a panel a task and temperature, with the task's gradient `steps`; the lengths of training are shaded.

    Hollow marks are the `paper`'s means, of the variants and lengths that it has.
    """
    tasks, temperatures = means["task"].unique(), means["temperature"].unique()
    figure = style.figure(0.5 + 1.85 * len(tasks))
    panels = figure.subplots(len(tasks), len(temperatures), sharex=True, sharey=True, squeeze=False)
    by_panel = means.groupby(["task", "temperature"], sort=False)
    for axes, ((task, temperature), of) in zip(panels.flat, by_panel, strict=True):
        axes.axvspan(*trained, color=style.LIGHT, zorder=0, label="training lengths")
        for norm, line in of.groupby("norm", sort=False):
            look = variants.look(str(norm))
            axes.plot(line["length"], line["mean"], **look, label=variants.label(str(norm)))
            axes.fill_between(line["length"], line["low"], line["high"], color=look["color"], alpha=0.25, lw=0)
            same = (paper["task"] == task) & (paper["temperature"] == temperature) & (paper["norm"] == norm)
            theirs = paper[same & paper["length"].isin(of["length"])]
            hollow = {"mfc": "none", "ms": 6, "mew": 0.8, "linestyle": "none", "zorder": 1}
            axes.plot(theirs["length"], theirs["mean"], **look | hollow)
        style.length_axis(axes, of["length"].unique())
        axes.set(ylabel="accuracy (%)", ylim=(-2, 105))
        axes.label_outer()
    style.letter(panels.flat, (f"{task}, {TITLES[temperature]}" for task in tasks for temperature in temperatures))
    handles, labels = panels[0, 0].get_legend_handles_labels()
    if paper["temperature"].isin(temperatures).any():
        handles.append(Line2D([], [], color=style.GREY, mfc="none", ms=6, mew=0.8, linestyle="none", marker="o"))
        labels.append("the paper's")
    figure.legend(handles, labels, loc="outside upper center", ncols=6)
    done = " and ".join(f"{task} after {steps[task]:,} gradient steps" for task in tasks)
    return Drawing(
        figure,
        f"Accuracy against length, trained on up to {trained[1]} items",
        f"{done}; means over n = {_seeds(means)}, the band is the 95% t interval of the mean over "
        "seeds. None: no normaliser, the paper's baseline. Hollow: the paper's means over 100 seeds."
        + "".join(MEANINGS.get(temperature, "") for temperature in temperatures),
    )


def _seeds(means: pd.DataFrame) -> str:
    """Return n, and that of a temperature of fewer seeds: a record's oldest have not every temperature."""
    plain = variants.seeds(means.loc[means["temperature"] == "plain", "n"])
    by_temperature = {name: variants.seeds(of["n"]) for name, of in means.groupby("temperature", sort=False)}
    fewer = [f"{TITLES[str(name)]}: {n}" for name, n in by_temperature.items() if n != plain]
    return f"{plain} seeds" if not fewer else f"{plain} ({', '.join(fewer)}) seeds"
