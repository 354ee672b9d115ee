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
    TARGET,
    TRAINED_TARGET,
    TRAINED_TARGET_AVERAGED,
    damaged,
    kept_long,
    restored,
)
from vanishing_variance.results.accuracy import rows

_WEIGHT, _WEIGHT_KEPT, _FEATURES, _GLOBAL, _MEAN, _HARD = style.SERIES

# Look and label by intervention. What acts on O acts on the normaliser's input here.
LINES = {
    TARGET: (_WEIGHT, "attention on the target"),
    kept_long("feature"): (_WEIGHT_KEPT, "attention on the target, mean and variance kept"),
    restored("feature"): (_FEATURES, "mean and variance of every feature of O"),
    restored("global"): (_GLOBAL, "global mean and variance of O"),
    AVERAGED: (_MEAN, "distractors averaged"),
    HARD: (_HARD, "hard attention"),
    TRAINED_TARGET: (_WEIGHT, "attention on the target"),
    TRAINED_TARGET_AVERAGED: (_MEAN, "attention on the target, distractors averaged"),
    damaged("feature"): (_FEATURES, "mean and variance of every feature of O"),
    damaged("global"): (_GLOBAL, "global mean and variance of O"),
}
# By kind; intervals of small losses are wider than the limits: they are cut.
TITLE = "Share of the lost accuracy that interventions recover and reproduce"
LABELS = {"recovered": "share of the lost\naccuracy recovered", "damage": "share of the lost\naccuracy reproduced"}
LIMITS = {"recovered": (-0.35, 1.35), "damage": (-0.35, 2.6)}
MEANINGS = (
    "Above: sequences of length N, one thing as at the training lengths. Below: sequences of the training lengths, one "
    "thing as at length N. Attention on the target: every sequence is given the target's weight of another, drawn at "
    "random from those lengths. Mean and variance: O is shifted and scaled, in all sequences alike, every feature by "
    "its own or (global) all by the same; kept: those of length N, of every feature. Distractors averaged: what the "
    "other items bring is its mean over sequences of length N. Hard attention: all weight on the largest logit."
)


def draw(shares: pd.DataFrame, longest: int) -> Drawing:
    """Draw a row of panels a kind, a column a task and variant (`none`, `ln` or the treatment); a line an intervention.

    `shares`: metrics/interventions/shares.csv, of which the short range's lengths that have a share are drawn;
    `longest`: the longest training length there.
    """
    lengths = sorted(shares["length"].dropna().astype(int).unique())
    shown = rows(shares, range_="short").dropna(subset=["length", "share"])
    shown = shown[(shown["where"] != "after") & (shown["norm"] != "std") & shown["kind"].isin(list(LABELS))]
    variant = shown["task"] + ", " + shown["norm"].map(variants.label)
    shown = shown.assign(variant=variant, treated=shown["norm"] != "none")
    shown = shown.sort_values(["task", "treated", "norm"], kind="stable")
    if shown.empty:
        return Drawing(style.figure(height=1), TITLE, "No length loses accuracy, so there is no share to draw.")
    figure, panels = style.facets(shown, "kind", "variant", margin=1, height=1.9, sharey="row")
    for axes, kind, variant, of_panel in panels:
        axes.axhline(0, color=style.GREY, lw=0.6)
        axes.axhline(1, color=style.GREY, lw=0.6)
        for intervention, (look, label) in LINES.items():
            line = rows(of_panel, intervention=intervention).set_index("length")
            if len(line):
                _draw_line(axes, line.reindex(lengths), look, label)
        style.length_axis(axes, lengths)
        axes.set(title=variant, xlabel="length N (items)", ylabel=LABELS[kind], ylim=LIMITS[kind])
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.label_outer()
    style.letter(figure.axes)
    style.legend_above(figure, columns=2)
    caption = (
        f"Trained on up to {longest} items, n = {variants.seeds(shown['n'])} seeds; the band is the 95% interval over "
        "seeds (Fieller), cut where it leaves a panel. Lost is the accuracy at the training lengths less that at "
        "length N; lengths at which less than a point is lost, or the loss may be 0, are left out, and a line is "
        f"broken there. {MEANINGS}"
    )
    return Drawing(figure, TITLE, caption)


def _draw_line(axes: Axes, line: pd.DataFrame, look: dict[str, Any], label: str) -> None:
    colour = look["color"]
    axes.plot(line.index, line["share"], **look, label=label)
    axes.fill_between(
        line.index,
        line["share_low"],
        line["share_high"],
        facecolor=(colour, 0.15),
        edgecolor=(colour, 0.5),  # so that the interval of a length between two broken ones is seen
        lw=0.5,
    )
