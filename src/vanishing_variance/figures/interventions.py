"""The shares of the lost accuracy that interventions recover and reproduce, against length."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.measure.interventions.names import (
    AVERAGED,
    HARD,
    PLACES,
    TARGET,
    TRAINED_TARGET,
    TRAINED_TARGET_AVERAGED,
    damaged,
    kept_long,
    restored,
)

_WEIGHT, _WEIGHT_KEPT, _FEATURES, _GLOBAL, _MEAN, _HARD = style.SERIES
# Kind -> intervention -> look, label. What acts on O acts on the normaliser's input here.
LINES: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "recovered": {
        TARGET: (_WEIGHT, "attention on the target"),
        kept_long("feature"): (_WEIGHT_KEPT, "attention on the target, mean and variance of every feature kept"),
        restored("feature"): (_FEATURES, "mean and variance of every feature of O"),
        restored("global"): (_GLOBAL, "global mean and variance of O"),
        AVERAGED: (_MEAN, "distractors replaced by their mean"),
        HARD: (_HARD, "hard attention"),
    },
    "damage": {
        TRAINED_TARGET: (_WEIGHT, "attention on the target"),
        TRAINED_TARGET_AVERAGED: (_MEAN, "attention on the target, distractors replaced by their mean"),
        damaged("feature"): (_FEATURES, "mean and variance of every feature of O"),
        damaged("global"): (_GLOBAL, "global mean and variance of O"),
    },
}
HEADINGS = {
    "recovered": "Sequences of length N, one thing as at the training lengths:",
    "damage": "Sequences of the training lengths, one thing as at length N:",
}
LABELS = {"recovered": "share of the lost\naccuracy recovered", "damage": "share of the lost\naccuracy reproduced"}
# Intervals of small losses are wider than that: they are cut.
LIMITS = {"recovered": (-0.35, 1.35), "damage": (-0.35, 2.6)}
MEANINGS = (
    "Attention on the target: every sequence is given the target's weight of another, drawn at random from the "
    "training lengths (above) or from those of length N (below). Mean and variance: O is shifted and scaled, in all "
    "sequences alike, every feature by its own or (global) all by the same; kept: those of length N. Distractors "
    "replaced by their mean: what the other items bring is its mean over sequences of length N. Hard attention: all "
    "weight on the largest logit."
)


def draw(shares: pd.DataFrame, longest: int) -> Drawing:
    """Draw a row of panels a kind, a column a task and variant (`none`, `ln` or the treatment); a line an intervention.

    `shares`: metrics/interventions/shares.csv, of which the short range's lengths that have a share are drawn;
    `longest`: the longest training length there.
    """
    of = shares[(shares["range"] == "short") & (shares["scope"] == "length")].dropna(subset="share")
    of = of[(of["where"] != PLACES[1]) & (of["norm"] != "std")]
    pairs = [(str(task), str(norm)) for task, norm in of[["task", "norm"]].drop_duplicates().to_numpy()]
    columns = sorted(pairs, key=lambda pair: (pair[0], pair[1] != "none"))
    lengths = sorted(shares["length"].dropna().astype(int).unique())
    figure = style.figure(4.9)
    drawn: list[Axes] = []
    for part, (kind, lines) in zip(figure.subfigures(len(LINES), squeeze=False).flat, LINES.items(), strict=True):
        row = part.subplots(1, max(1, len(columns)), sharex=True, sharey=True, squeeze=False)[0]
        for axes, (task, norm) in zip(row, columns, strict=False):
            _panel(axes, of[(of["task"] == task) & (of["norm"] == norm) & (of["kind"] == kind)], lines, lengths)
            style.length_axis(axes, lengths)
            axes.set_xlabel("length N (items)")
            axes.label_outer()
        row[0].set(ylabel=LABELS[kind], ylim=LIMITS[kind])
        row[0].yaxis.set_major_formatter(PercentFormatter(1))
        part.legend(*row[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, title=HEADINGS[kind])
        drawn += row[: len(columns)].tolist()
    style.letter(drawn, (f"{task}, {variants.label(norm)}" for _ in LINES for task, norm in columns))
    return Drawing(
        figure,
        "Share of the lost accuracy that interventions recover and reproduce",
        f"Trained on up to {longest} items, n = {of['n'].max() if len(of) else 0} seeds; the band is the 95% interval "
        "over seeds (Fieller), cut where it leaves a panel. Lost is the accuracy at the training lengths less that at "
        "length N; lengths at which less than a point is lost, or the loss may be 0, are left out, and a line is "
        f"broken there. {MEANINGS}",
    )


def _panel(axes: Axes, of: pd.DataFrame, lines: dict[str, tuple[dict[str, Any], str]], lengths: list[int]) -> None:
    for height in (0, 1):
        axes.axhline(height, color=style.GREY, lw=0.6)
    for name, (look, label) in lines.items():
        line = of[of["intervention"] == name].set_index("length").reindex(lengths)
        axes.plot(lengths, line["share"], **look, label=label)
        low, high = (line[f"share_{end}"].astype(float) for end in ("low", "high"))
        faint, fainter = ((look["color"], alpha) for alpha in (0.5, 0.15))
        # with an edge, so that the interval of a length between two broken ones is seen
        axes.fill_between(lengths, low, high, facecolor=fainter, edgecolor=faint, lw=0.5)
