"""Gain in accuracy of every normaliser against sequence length, by the rules of the tests (Tables 1 to 6)."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.accuracy import by_seed, rows
from vanishing_variance.results.runs import NORMS, RULES
from vanishing_variance.statistics.intervals import interval

KEYS = ["task", "rule", "norm", "length"]
# Of the rules that are drawn: title and meaning.
DRAWN = {
    "last": ("last weights", "as trained"),
    "adaptive": ("adaptive θ", "the paper's temperature"),
    "averaged": ("averaged", "with averaged weights"),
}
HOLLOW: dict[str, Any] = {"mfc": "none", "ms": 6, "mew": 0.8, "linestyle": "none", "zorder": 1}


def data(accuracy: pd.DataFrame, tasks: tuple[str, ...], range_: str) -> pd.DataFrame:
    """Return task, rule, norm, length, n, and two means over seeds, each with its 95% interval.

    `mean` is of the accuracy (%), `difference` of that less the accuracy of `none` with the same seed (points).
    """
    norms = dict.fromkeys([*NORMS, *sorted(accuracy["norm"].unique())])
    means = []
    for task, rule, norm in product(tasks, RULES, norms):
        by_length = by_seed(accuracy, task, range_, norm, rule)
        differences = by_length - by_seed(accuracy, task, range_, "none", rule)
        for length, seeds in by_length.items():
            paired = differences[length].dropna()
            difference = interval(paired.to_numpy())
            means.append((task, rule, norm, length, len(seeds), *interval(seeds.to_numpy()), *difference))
    estimates = [*("mean", "low", "high"), *("difference", "difference_low", "difference_high")]
    return pd.DataFrame(means, columns=[*KEYS, "n", *estimates])


def papers(reference: pd.DataFrame, range_: str) -> pd.DataFrame:
    """Return the surviving means of the paper on one range: task, rule, norm, length, mean, difference, as `data`."""
    accuracies = rows(reference, quantity="accuracy_pct", range_=range_)
    accuracies = accuracies.rename(columns={"variant": "norm", "value": "mean"})
    accuracies = accuracies[[*KEYS, "mean"]].dropna()
    untreated = rows(accuracies, norm="none").drop(columns="norm")
    untreated = untreated.rename(columns={"mean": "untreated"})
    both = accuracies.merge(untreated, "left")
    difference = both["mean"] - both.pop("untreated")
    return both.assign(difference=difference.where(both["norm"] != "none"))


def draw(means: pd.DataFrame, paper: pd.DataFrame, trained: tuple[int, int], steps: Mapping[str, int]) -> Drawing:
    """Draw the differences from `none`: a row a task, a column a rule of DRAWN; the lengths of training are shaded.

    Hollow marks are the `paper`'s, where it has them. `steps` are the gradient steps of each task.
    """
    both = means.merge(paper, "left", KEYS, suffixes=("", "_paper"))
    shown = both[both["rule"].isin(list(DRAWN)) & (both["norm"] != "none")]
    figure, panels = style.facets(shown, "task", "rule", margin=0.5, height=1.7, sharey="row")
    for axes, task, rule, lines in panels:
        # std, whose marks are smaller, above ln
        for norm in lines["norm"].unique()[::-1]:
            line = rows(lines, norm=norm).set_index("length")
            look = variants.look(norm)
            axes.plot(line.index, line["difference"], **look, label=variants.label(norm))
            axes.plot(line.index, line["difference_paper"], **look | HOLLOW)
            style.band(axes, line["difference_low"], line["difference_high"], look["color"])
        axes.axhline(0, color="#000000", lw=0.9, zorder=1)
        axes.axvspan(*trained, color=style.LIGHT, zorder=0, label="training lengths")
        style.length_axis(axes, means["length"].unique())
        axes.set(title=f"{task}, {DRAWN[rule][0]}", ylabel="difference from\nnone (points)")
        axes.label_outer()
    figure.axes[0].plot([], [], marker="o", color=style.GREY, **HOLLOW, label="the paper's")
    style.letter(figure.axes)
    style.legend_above(figure, columns=6)
    rules = [": ".join(DRAWN[rule]) for rule in shown["rule"].unique()]
    trainings = [f"{steps[task]:,} ({task})" for task in means["task"].unique()]
    caption = (
        f"Means over n = {variants.seeds(means['n'])} seeds, paired (bands: 95% t intervals), trained for "
        f"{' or '.join(trainings)} steps. Hollow: the paper's, 100 seeds. {'; '.join(rules)}."
    )
    return Drawing(figure, f"Gain in accuracy against length, trained on up to {trained[1]} items", caption)
