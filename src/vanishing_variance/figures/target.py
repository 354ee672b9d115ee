"""The attention weight of the item with the answer, against sequence length."""

import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.columns import rows

LOOKS = {
    "none": variants.look("none"),
    "ln": variants.look("ln"),
    "a Transformer layer": style.look("#CC6677", "-.", "^"),
    "three changes": style.look("#117733", "-", "D"),
}


def draw(means: pd.DataFrame, trained: tuple[int, int]) -> Drawing:
    """Draw a panel a task, a line a network; lengths of training are shaded. `means`: `report.studies.read_target`."""
    figure, panels = style.facets(means.assign(row=""), "row", "task", margin=0.45, height=2.1)
    for axes, _, task, lines in panels:
        for name, look in LOOKS.items():
            line = rows(lines, network=name).set_index("length")
            axes.plot(line.index, line["mean"], **look, label=name)
            style.band(axes, line["low"], line["high"], look["color"])
        axes.axvspan(*trained, color=style.LIGHT, zorder=0, label="training lengths")
        style.length_axis(axes, means["length"].unique())
        axes.set(title=task, ylabel="attention weight of\nthe target (%)", ylim=(-2, 105))
        axes.label_outer()
    style.legend_above(figure, columns=5)
    style.note(figure, f"n = {variants.seeds(means['n'])} seeds; bands: 95% t intervals over seeds")
    counts = []
    for network, of_network in means.groupby("network", sort=False)["n"]:
        counts.append(f"{network}, {variants.seeds(of_network)}")
    numbers = "; ".join(counts)
    caption = (
        f"Means over n seeds ({numbers}), last weights; bands: 95% t intervals over seeds. Target: the item with the "
        "answer. Of several heads, the one that attends most to it. The Transformer layer has pre-norm and no LN "
        "on O, and is tested up to 2^12."
    )
    title = f"Attention to the item with the answer, trained on {trained[0]} to {trained[1]} items"
    return Drawing(figure, title, caption)
