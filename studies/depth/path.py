"""Draw path.png from board.csv: `python studies/depth/path.py`."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.board import BEYOND
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.columns import rows

HERE = Path(__file__).parent
# What each network has, beside what the one above has.
PATH = {
    "paper": "the paper's network",
    "heads": "+ four heads",
    "tokens": "+ a token for the query",
    "residual": "+ residual connection",
    "pre-norm": "+ pre-norm",
    "mlp": "+ MLP after attention",
    "linear": "linear layers in place\nof the paper's MLPs",
    "two": "+ second layer",
    "four": "+ third and fourth",
}
GAIN = ["difference", "difference_low", "difference_high"]
TRAINED = 99.0  # percent at the shortest length: a network whose baseline has less did not train
PALE = "#B0B0B0"


def draw(board: pd.DataFrame) -> Drawing:
    """Draw accuracies without LN and with it, and LN's gain; grey where none did not train."""
    heights = pd.Series(np.arange(len(PATH)), PATH)
    last, averaged = (rows(board, rule=rule).set_index("line") for rule in ("last", "averaged"))
    none, ln = ([f"{name}-{norm}" for name in PATH] for norm in ("none", "ln"))
    failed = (last.loc[none, "accuracy_16"] < TRAINED).to_numpy()
    figure = style.figure(3.5)
    accuracies, gains = figure.subplots(1, 2, sharey=True)

    def marks(axes: Axes, estimates: pd.DataFrame, shift: float, look: dict[str, str], label: str) -> None:
        for group, shown in ((~failed, look), (failed, look | {"color": PALE})):
            style.marks(axes, estimates[group], heights[group] + shift, shown, label if shown is look else "")

    marks(accuracies, last.loc[none, BEYOND], -0.15, variants.look("none"), "without LN, last weights")
    marks(accuracies, last.loc[ln, BEYOND], 0.15, variants.look("ln"), "with LN, last weights")
    marks(gains, last.loc[ln, GAIN], -0.15, style.SERIES[3], "gain, last weights")
    marks(gains, averaged.loc[ln, GAIN], 0.15, style.SERIES[2], "gain, averaged weights")
    gains.axvline(0, color="#000000", lw=0.9, zorder=0)
    for axes in (accuracies, gains):
        axes.grid(axis="y", visible=False)
    words = pd.Series(PATH) + np.where(failed, "\n(did not train)", "")
    accuracies.set_yticks(heights, words)
    for name, has_failed in zip(accuracies.get_yticklabels(), failed, strict=True):
        name.set_color("#707070" if has_failed else "#000000")
    accuracies.set_ylim(len(PATH) - 0.5, -0.5)
    accuracies.set(title="dictionary: accuracy", xlabel="accuracy at 32 to 4,096 items (%)")
    gains.set(title="dictionary: gain of LN", xlabel="with LN less without it (points)")
    style.letter([accuracies, gains])
    style.legend_above(figure, columns=4)
    seeds = "n = 16 seeds (four layers: 8), paired; bars: 95% t intervals over seeds"
    grey = "grey: under 99% at 16 items without LN, so the network did not train, and its gain says nothing"
    style.note(figure, f"{seeds}; a network has what those above it have;\n{grey}")
    caption = f"Means over the lengths beyond training, after 10,000 steps; {seeds}; {grey}."
    return Drawing(figure, "From the paper's network to a Transformer: accuracy and gain of LN", caption)


if __name__ == "__main__":
    write_figure(HERE / "path", draw(read_csv(HERE / "board.csv")))
