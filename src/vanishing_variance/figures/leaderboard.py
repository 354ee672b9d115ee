"""The leaderboard: mean accuracy beyond training of every line, as trained and with hard attention."""

import pandas as pd
from matplotlib.axes import Axes

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.leaderboard.board import FINE
from vanishing_variance.leaderboard.files import HARD, PLAIN
from vanishing_variance.results.accuracy import rows

# Inches: of a line, and of everything above and below the lines.
LINE, MARGINS = 0.16, 0.9
NAMES = (
    "In a line's name, direct: queries, keys and values are of the features themselves, not of an MLP's output; power: "
    "the logits times a learned power of N; gain: attention outputs times a learned power of N; ln: layer "
    "normalisation of the attention outputs; centred: their root mean square brought to 1 about a learned centre; "
    "cosine: a learning rate that falls to 0; longer: more training steps."
)


def draw(board: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a row a line as trained, the best at the top; words stand for what diverged or is at chance.

    The rows are by the smallest accuracy of all tasks, the same in all panels. `board`: a frame of `board.board`.
    """
    tasks = board["task"].unique()
    trained = rows(board, rule=PLAIN).sort_values("overall_rank", kind="stable", na_position="last")
    names = list(trained["line"].unique())
    figure = style.figure(MARGINS + LINE * max(len(names), 4))
    panels = figure.subplots(1, len(tasks), sharex=True, sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        hard = rows(board, task=task, rule=HARD).set_index("line")["beyond"]
        lines = rows(trained, task=task).set_index("line").assign(hard=hard)
        _draw_panel(axes, lines, names)
        axes.set_title(task)
        axes.label_outer()
    style.letter(panels)
    style.legend_above(figure, columns=3)
    caption = (
        f"Mean accuracy over the test lengths beyond training, over n = {variants.seeds(board['n'].dropna())} seeds, "
        "with its 95% t interval, which may be narrower than its mark; the dotted line is the baseline. Rows are by "
        "the smaller of the tasks' accuracies. Hard attention: all weight on the same models' largest logit, at test "
        f"time. {NAMES}"
    )
    return Drawing(figure, "Accuracy beyond training, a row a line", caption)


def _draw_panel(axes: Axes, lines: pd.DataFrame, names: list[str]) -> None:
    """Draw the rows `names`, from the top. `lines`: the columns of the board by line, and `hard` (%)."""
    lines = lines.assign(place=lines.index.map(names.index))
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
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel("accuracy beyond training (%)")
    axes.grid(axis="y", visible=False)
