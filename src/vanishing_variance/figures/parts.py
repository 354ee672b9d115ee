"""Figure of the parts of the answers, stacked, against length."""

from collections.abc import Mapping

import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing, without_data
from vanishing_variance.measure.parts import PARTS
from vanishing_variance.results.columns import LAST, rows
from vanishing_variance.results.parts import are_of_all, with_parts

# From below: colour and label; the palette of Paul Tol (muted), which is colour-blind-safe.
LAYERS = {
    "right": ("#FFFFFF", "right"),
    "right_misranked": ("#BBBBBB", PARTS["right_misranked"]),
    "misread": ("#DDCC77", "misread: target first, wrong even by hard attention"),
    "diluted": ("#88CCEE", "diluted: target first, right by hard attention"),
    "misranked": ("#882255", "misranked: another item has the largest weight"),
}
TITLE = "Where accuracy goes"


def draw(tested: pd.DataFrame, longest: Mapping[str, int]) -> Drawing:
    """Draw a panel a line and task, the parts of all answers as trained, means over seeds; `tested`: by rule.

    Lines and tasks in which they were not measured are left out. `longest`: in training, by line, in order.
    """
    lines = [*longest]
    shown = rows(with_parts(tested), rule=LAST)
    shown = shown[shown["line"].isin(lines)]
    if shown.empty:
        return without_data(TITLE, "The parts of the answers were not measured.")
    shown = shown.assign(right=1 - shown[list(PARTS)].sum(axis=1))  # of the sequences whose parts were measured
    in_order = shown.sort_values("line", key=lambda names: names.map(lines.index), kind="stable")
    figure, panels = style.facets(in_order, "line", "task", margin=0.8, height=1.3)
    for axes, line, task, of_line in panels:
        if of_line.empty:
            axes.set_axis_off()
            axes.set_title(f"{task}, {line}: not measured")
            continue
        means = 100 * of_line.groupby("length")[list(LAYERS)].mean()
        colours, labels = zip(*LAYERS.values(), strict=True)
        axes.stackplot(means.index, means.to_numpy().T, colors=colours, labels=labels, edgecolor="black", lw=0.4)
        style.length_axis(axes, means.index)
        seeds = of_line["seed"].nunique()
        axes.set(title=f"{task}, {line} (n = {seeds})", ylabel="answers (%)", xlabel="length N (items)", ylim=(0, 100))
        axes.label_outer()
    style.legend_above(figure, columns=2)
    style.note(figure, "means over n seeds, last weights")
    trained = " or ".join(str(items) for items in sorted({longest[line] for line in shown["line"]}))
    of_which = "All answers" if are_of_all(shown) else "Answers to the first sequences of a length,"
    counts = variants.seeds(shown.groupby(["task", "line"])["seed"].nunique())
    caption = (
        f"{of_which} with the last weights, trained on up to {trained} items, by what is wrong with them; means over "
        f"n = {counts} seeds. What only sharpens attention can return the diluted ones at most."
    )
    return Drawing(figure, TITLE, caption)
