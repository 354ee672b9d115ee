"""Figure 1: standard deviation of fixed components of attention outputs inside a pretrained decoder, against length."""

import pandas as pd

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.probe.fits import pooled
from vanishing_variance.probe.strategies import AFTER, BEFORE, STRATEGIES
from vanishing_variance.results.columns import rows

PLACES = {BEFORE: "O, before the projection $W_O$", AFTER: "after the projection $W_O$"}


def draw(deviations: pd.DataFrame, laws: pd.DataFrame) -> Drawing:
    """Draw a panel before and one after W_O, of the first layer and the last; a line a strategy, the geometric mean.

    `laws` are the power laws of `pooled(deviations)`.
    """
    means = pooled(deviations)
    layers = list(means["layer"].unique())
    shown = means[means["layer"].isin([layers[0], layers[-1]])]
    figure, panels = style.facets(shown, "layer", "place", 0.9, 2.9)
    for axes, layer, place, of_panel in panels:
        exponents = rows(laws, layer=layer, place=place).set_index("strategy")[["exponent", "low", "high"]]
        lines, texts = [], []
        for (name, strategy), look in zip(STRATEGIES.items(), style.SERIES, strict=False):
            line = rows(of_panel, strategy=name)
            lines += axes.plot(line["length"], line["deviation"], label=strategy.title, **look)
            text = estimate(".2f", *exponents.loc[name])
            texts.append(text.replace("-", "−"))
        # the slope for i.i.d. tokens and a fixed query, from the first point
        lengths = of_panel["length"].unique()
        slope = of_panel["deviation"].iloc[0] * (lengths / lengths[0]) ** -0.5
        axes.plot(lengths, slope, color=style.GREY, lw=1, label="reference: exponent −0.5")
        axes.legend(lines, texts, title="exponent", loc="lower left")
        style.length_axis(axes, lengths)
        axes.set(title=f"layer {layer}: {PLACES[place]}", xlabel="sequence length N (tokens)", yscale="log")
        axes.set_ylabel("standard deviation")
        axes.label_outer()
    style.letter(axes for axes, *_ in panels)
    style.legend_above(figure, columns=2)
    style.log_ticks(panels[0][0].yaxis, "{x:g}")
    first = deviations.iloc[0]
    style.note(
        figure, f"{first['model']}, n = {first['n']} sequences a length; in brackets: 95% t intervals over lengths"
    )
    text = first["text"].rpartition(" ")[0]
    before, after = (rows(deviations, place=place)["feature"].nunique() for place in PLACES)
    caption = (
        f"{first['model']} ({str(first['revision'])[:12]}), sentences of {text}: attention outputs of the last token "
        f"over n = {first['n']} sequences a length. A line is the geometric mean of {before} features of the "
        f"heads' outputs O, before W_O, and of {after} after it; its exponent has a 95% t interval over lengths. P.E.: "
        "positional encoding. Fixed last token: the same in all sequences, unlike in the paper."
    )
    return Drawing(figure, "Figure 1: standard deviation of attention outputs inside a pretrained decoder", caption)
