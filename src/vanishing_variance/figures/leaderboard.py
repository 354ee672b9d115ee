"""The leaderboard: mean accuracy beyond training of every line, as trained and with hard attention."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.leaderboard.board import FINE
from vanishing_variance.leaderboard.files import HARD, PLAIN
from vanishing_variance.results.accuracy import rows

# Inches: of a line, and of everything above and below the lines.
LINE, MARGINS = 0.16, 0.9
# Rows, between the lines and those of more steps.
APART = 1
# Of the settings that the paper's models do not have; others go by their names.
WORDS = {
    "direct": "no MLP",
    "power": "logits × power of N",
    "ssmax": "logits × log N",
    "length_gain": "outputs × power of N",
    "ln": "LayerNorm",
    "centred_rms": "centred RMS norm",
    "cosine": "cosine decay",
}


def draw(board: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a row a line as trained, the best at the top; words stand for what diverged or is at chance.

    The rows are by the smallest accuracy of all tasks, the same in all panels; lines of more steps than the others
    stand below them. `board`: a frame of `board.board`.
    """
    tasks = board["task"].unique()
    trained = rows(board, rule=PLAIN).assign(longer=board["steps"] > board["steps"].min())
    trained = trained.sort_values(["longer", "overall_rank"], kind="stable", na_position="last")
    first = trained.drop_duplicates("line").set_index("line")
    places = np.arange(len(first)) + APART * first["longer"]
    names = [_words(line) for _, line in first.iterrows()]
    figure = style.figure(MARGINS + LINE * max(len(names), 4))
    panels = figure.subplots(1, len(tasks), sharex=True, sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        hard = rows(board, task=task, rule=HARD).set_index("line")["beyond"]
        lines = rows(trained, task=task).set_index("line").assign(hard=hard, place=places)
        _draw_panel(axes, lines)
        for place in places[first["longer"]][:1]:
            axes.axhline(place - APART, color=style.GREY, lw=0.6)
        axes.set_yticks(places, names)
        axes.set_ylim(places.max() + 0.6, -0.6)
        axes.set_title(task)
        axes.label_outer()
    style.letter(panels)
    style.legend_above(figure, columns=3)
    caption = (
        f"Mean accuracy over the lengths beyond training, n = {variants.seeds(board['n'].dropna())} seeds; bars: 95% t "
        "intervals over seeds. Rows are by the smaller of the tasks' accuracies. Hard attention: the same models, all "
        "weight on the largest logit. No MLP: queries, keys and values are of the features themselves. A power of N is "
        "learned."
    )
    return Drawing(figure, "Accuracy beyond training, a row a line", caption)


def _words(line: pd.Series) -> str:
    """Return what sets a line apart from the paper's models."""
    settings = line[["projection", "attention", "norm", "decay"]]
    words = [WORDS.get(setting, setting) for setting in settings if setting not in ("mlp", "softmax", "none")]
    longer = [f"{line['steps']:g} × the steps"] if line["longer"] else []
    return ", ".join(words + longer) or "softmax"


def _draw_panel(axes: Axes, lines: pd.DataFrame) -> None:
    """Draw lines. `lines`: the columns of the board by line, `hard` (%), and the height `place`."""
    drawn = rows(lines, state=FINE)
    baseline = rows(drawn, baseline=True)
    others = rows(drawn, baseline=False)
    columns = ["beyond", "beyond_low", "beyond_high"]
    style.marks(axes, others[columns], others["place"], style.SERIES[0], "as trained")
    style.marks(axes, baseline[columns], baseline["place"], style.look("#000000", "", "s"), "baseline")
    for beyond in baseline["beyond"]:
        axes.axvline(beyond, color="#000000", lw=0.9, ls=":", zorder=0)
    axes.plot(drawn["hard"], drawn["place"], "D", color=style.GREY, ms=4.5, mfc="none", mew=0.8, label="hard attention")
    # a mark would leave the others little room
    failed = lines[lines["state"] != FINE]
    for place, state in zip(failed["place"], failed["state"], strict=True):
        axes.text(0.02, place, state, transform=axes.get_yaxis_transform(), va="center")
    axes.set_xlabel("accuracy beyond training (%)")
    axes.grid(axis="y", visible=False)
