"""Accuracy against sequence length, every normaliser, by the rules of the tests (Tables 1 to 6)."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.runs import NORMS, RULES
from vanishing_variance.results.accuracy import by_seed, rows
from vanishing_variance.statistics.intervals import interval

KEYS = ["task", "rule", "norm", "length"]
# Of the rules that are drawn: title and meaning.
DRAWN = {
    "plain": ("plain", "as trained"),
    "adaptive": ("adaptive θ", "the paper's temperature at test time, from the entropy"),
    "fitted": ("fitted θ", "the same, fitted to the other half of the seeds, with labels at the test lengths"),
    "averaged": ("averaged", "plain, with the weights averaged over the last part of training"),
}
HOLLOW: dict[str, Any] = {"mfc": "none", "ms": 6, "mew": 0.8, "linestyle": "none", "zorder": 1}


def data(accuracy: pd.DataFrame, tasks: tuple[str, ...], range_: str) -> pd.DataFrame:
    """Return task, rule, norm, length, n, and the mean accuracy (%) over seeds with its 95% interval."""
    norms = dict.fromkeys([*NORMS, *sorted(accuracy["norm"].unique())])
    means = []
    for task, rule, norm in product(tasks, RULES, norms):
        by_length = by_seed(accuracy, task, range_, norm, rule)
        for length, seeds in by_length.items():
            estimate = interval(seeds.to_numpy())
            means.append((task, rule, norm, length, len(seeds), *estimate))
    return pd.DataFrame(means, columns=[*KEYS, "n", "mean", "low", "high"])


def papers(reference: pd.DataFrame, range_: str) -> pd.DataFrame:
    """Return the surviving mean accuracies (%) of the paper on one range: task, rule, norm, length, mean."""
    accuracies = rows(reference, quantity="accuracy_pct", range_=range_)
    accuracies = accuracies.rename(columns={"variant": "norm", "value": "mean"})
    return accuracies[[*KEYS, "mean"]].dropna()


def draw(means: pd.DataFrame, paper: pd.DataFrame, trained: tuple[int, int], steps: Mapping[str, int]) -> Drawing:
    """Draw a panel a task and rule of DRAWN, with the task's gradient `steps`; the lengths of training are shaded.

    Hollow marks are the `paper`'s means, of the variants and lengths that it has.
    """
    both = means.merge(paper, "left", KEYS, suffixes=("", "_paper"))
    shown = both[both["rule"].isin(list(DRAWN))]
    figure, panels = style.facets(shown, "task", "rule", margin=0.5, height=1.85)
    for axes, task, rule, lines in panels:
        axes.axvspan(*trained, color=style.LIGHT, zorder=0, label="training lengths")
        for norm in lines["norm"].unique():
            line = rows(lines, norm=norm).set_index("length")
            look = variants.look(norm)
            axes.plot(line.index, line["mean"], **look, label=variants.label(norm))
            axes.plot(line.index, line["mean_paper"], **look | HOLLOW)
            style.band(axes, line["low"], line["high"], look["color"])
        style.length_axis(axes, means["length"].unique())
        axes.set(title=f"{task}, {DRAWN[rule][0]}", ylabel="accuracy (%)", ylim=(-2, 105))
        axes.label_outer()
    figure.axes[0].plot([], [], marker="o", color=style.GREY, **HOLLOW, label="the paper's")
    style.letter(figure.axes)
    style.legend_above(figure, columns=6)
    rules = [": ".join(DRAWN[rule]) for rule in shown["rule"].unique()]
    trainings = [f"{task} after {steps[task]:,} gradient steps" for task in means["task"].unique()]
    caption = (
        f"{' and '.join(trainings)}; means over n = {variants.seeds(means['n'])} seeds, the band is the 95% t interval "
        "of the mean over seeds. None: no normaliser, the paper's baseline. Hollow: the paper's means over 100 seeds. "
        f"Tested: {'; '.join(rules)}."
    )
    return Drawing(figure, f"Accuracy against length, trained on up to {trained[1]} items", caption)
