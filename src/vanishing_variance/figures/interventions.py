"""The shares of the lost accuracy that interventions recover and reproduce, against length."""

from typing import Any

import pandas as pd
from matplotlib.ticker import PercentFormatter

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.measure.interventions import names
from vanishing_variance.results.accuracy import rows

# What others often lie on.
WIDE: dict[str, Any] = {"lw": 3.5, "ms": 5.5, "mew": 0, "alpha": 0.5}
_WEIGHT, _WEIGHT_KEPT, _FEATURES, _GLOBAL, _MEAN, _HARD = style.SERIES
_WEIGHT, _FEATURES = _WEIGHT | WIDE, _FEATURES | WIDE

# Look and label by intervention. What acts on O acts on the normaliser's input here.
LINES = {
    names.TARGET: (_WEIGHT, "attention on the target"),
    names.restored("feature"): (_FEATURES, "mean and variance of every feature of O"),
    names.kept_long("feature"): (_WEIGHT_KEPT, "attention on the target, mean and variance kept"),
    names.restored("global"): (_GLOBAL, "global mean and variance of O"),
    names.AVERAGED: (_MEAN, "distractors averaged"),
    names.HARD: (_HARD, "hard attention"),
    names.TRAINED_TARGET: (_WEIGHT, "attention on the target"),
    names.TRAINED_TARGET_AVERAGED: (style.look("#000000", "-.", "P"), "attention on the target, distractors averaged"),
    names.damaged("feature"): (_FEATURES, "mean and variance of every feature of O"),
    names.damaged("global"): (_GLOBAL, "global mean and variance of O"),
}
TITLE = "Share of the lost accuracy that interventions recover and reproduce"
# By kind.
LABELS = {"recovered": "share of the lost\naccuracy recovered", "damage": "share of the lost\naccuracy reproduced"}
# Around the shares of a row of panels: what intervals have beyond that is cut.
MARGIN = 0.12


def draw(shares: pd.DataFrame, longest: int) -> Drawing:
    """Draw a row of panels a kind, a column a task and variant (`none`, `ln` or the treatment); a line an intervention.

    `shares`: `results.shares.shares`, of which the short range's lengths that have a share are drawn;
    `longest`: the longest training length there.
    """
    lengths = sorted(shares["length"].dropna().astype(int).unique())
    shown = rows(shares, range_="short").dropna(subset=["length", "share"])
    shown = shown[(shown["where"] != "after") & (shown["norm"] != "std") & shown["kind"].isin(list(LABELS))]
    shown = shown[shown["intervention"].isin(list(LINES))]
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
                line = line.reindex(lengths)
                colour = look["color"]
                axes.plot(line.index, line["share"], **look, label=label)
                # an edge, so that the interval of a length between two broken ones is seen
                fill: dict[str, Any] = {"facecolor": (colour, 0.12), "edgecolor": (colour, 0.3), "lw": 0.5}
                axes.fill_between(line.index, line["share_low"], line["share_high"], **fill)
        style.length_axis(axes, lengths)
        axes.set(title=variant, xlabel="length N (items)", ylabel=LABELS[kind])
        of_kind = rows(shown, kind=kind)["share"]
        axes.set_ylim(of_kind.min() - MARGIN, of_kind.max() + MARGIN)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.label_outer()
    style.letter(figure.axes)
    style.legend_above(figure, columns=2)
    caption = (
        f"Trained on up to {longest} items, n = {variants.seeds(shown['n'])} seeds; the band is the 95% interval over "
        "seeds (Fieller), cut at the panel's edge. Lengths that lose less than a point are left out. Above: sequences "
        "of length N, one thing as at the training lengths; below: the other way round. Kept: as at length N. "
        "Distractors averaged: what they bring is its mean over sequences."
    )
    return Drawing(figure, TITLE, caption)
