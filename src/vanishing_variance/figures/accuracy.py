"""Gain in accuracy of every line against sequence length, by the rules of the tests (Tables 1 to 6)."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.arms import LENGTHS
from vanishing_variance.results.columns import rows
from vanishing_variance.results.comparison import compare, spread
from vanishing_variance.results.runs import NORMS, line_of, norm_of, range_of

KEYS = ["task", "rule", "line", "length"]
# Of the rules that are drawn: title and meaning.
DRAWN = {
    "last": ("last weights", "as trained"),
    "adaptive": ("adaptive θ", "the paper's temperature"),
    "averaged": ("averaged", "with averaged weights"),
}
ESTIMATES = ["n", "mean", "low", "high", "difference", "difference_low", "difference_high"]
CURVE = ("difference", "difference_paper", "difference_low", "difference_high")
HOLLOW: dict[str, Any] = {"mfc": "none", "ms": 6, "mew": 0.8, "linestyle": "none", "zorder": 1}


def data(accuracy: pd.DataFrame, tasks: tuple[str, ...], range_: str) -> pd.DataFrame:
    """Return task, rule, line, length, and two means over seeds, each with its 95% interval; the lines of a range.

    `mean` is of the accuracy (%), `difference` of that less the accuracy of `none` with the same seed (points), of n
    seeds.
    """
    there = [line for line in sorted(accuracy["line"].unique()) if range_of(line) == range_]
    none = line_of("none", range_)
    usual = [line_of(norm, range_) for norm in NORMS]
    pairs = [(line, none) for line in dict.fromkeys([*usual, *there])]
    wanted = [("accuracy", LENGTHS), ("difference", LENGTHS)]
    frame = compare(accuracy[accuracy["task"].isin(tasks)], pairs, dict.fromkeys(there, 0), 0, wanted)
    names = {"scope": "length", "difference_n": "n", "accuracy": "mean", "accuracy_low": "low", "accuracy_high": "high"}
    found = spread(frame, "scope").rename(columns=names).reindex(columns=[*KEYS, *ESTIMATES])
    return found.fillna({"n": 0}).astype({"length": int, "n": int})


def papers(reference: pd.DataFrame, range_: str) -> pd.DataFrame:
    """Return the surviving means of the paper on one range: task, rule, line, length, mean, difference, as `data`."""
    accuracies = rows(reference, statistic="accuracy").rename(columns={"value": "mean"})
    accuracies = accuracies[[*KEYS, "mean"]].dropna()
    none = line_of("none", range_)
    untreated = rows(accuracies, line=none).drop(columns="line")
    untreated = untreated.rename(columns={"mean": "untreated"})
    both = accuracies[accuracies["line"].map(range_of) == range_].merge(untreated, "left")
    difference = both["mean"] - both.pop("untreated")
    return both.assign(difference=difference.where(both["line"] != none))


def curve(axes: Axes, means: pd.DataFrame, columns: Iterable[str], look: dict[str, Any], label: str) -> None:
    """Draw means against length; `columns`: of the mean, of the paper's, which is hollow, and of the band's ends."""
    mean, paper, low, high = (means.set_index("length")[column] for column in columns)
    axes.plot(mean.index, mean, **look, label=label)
    axes.plot(paper.index, paper, **look | HOLLOW)
    style.band(axes, low, high, look["color"])


def draw(means: pd.DataFrame, paper: pd.DataFrame, trained: tuple[int, int], steps: Mapping[str, int]) -> Drawing:
    """Draw the differences from `none`: a row a task, a column a rule of DRAWN; the lengths of training are shaded.

    Hollow marks are the `paper`'s, where it has them. `steps` are the gradient steps of each task.
    """
    both = means.merge(paper, "left", KEYS, suffixes=("", "_paper"))
    shown = both[both["rule"].isin(list(DRAWN)) & (both["line"].map(norm_of) != "none")]
    figure, panels = style.facets(shown, "task", "rule", margin=0.5, height=1.7, sharey="row")
    for axes, task, rule, lines in panels:
        # std, whose marks are smaller, above ln
        for name in lines["line"].unique()[::-1]:
            norm = norm_of(name)
            curve(axes, rows(lines, line=name), CURVE, variants.look(norm), variants.label(norm))
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
    seeds = variants.seeds(shown.dropna(subset="difference")["n"])
    caption = (
        f"Means over n = {seeds} seeds, paired (bands: 95% t intervals), trained for "
        f"{' or '.join(trainings)} steps. Hollow: the paper's, 100 seeds. {'; '.join(rules)}."
    )
    return Drawing(figure, f"Gain in accuracy against length, trained on up to {trained[1]} items", caption)
