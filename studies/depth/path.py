"""The path from the paper's network to a Transformer: `python studies/depth/path.py`; by plan.md, beside it.

Lines in an order, each of which differs in one thing from the one before. Writes path.md, where the gain over the
baseline changes, of this study and depth-argmax, and path.png, accuracy and gain of every line on it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.board import BEYOND
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.accuracy import percent_by_length, rows
from vanishing_variance.results.compare.gains import columns, gain, texts
from vanishing_variance.results.compare.pairs import of_both, percent_beyond
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.log_odds import log_odds
from vanishing_variance.statistics.paired import difference
from vanishing_variance.studies.parameters import held_out
from vanishing_variance.studies.reading import by_rule, read_all

HERE = Path(__file__).parent
RUNGS = ["paper", "heads", "tokens", "residual", "pre-norm", "mlp", "linear", "two", "four"]
RUNGS_OF_STUDY = {"depth": RUNGS, "depth-argmax": ["paper", "linear"]}
LONGEST_TRAINED = 16
# By the view of a gain, its head in a table and Python's format.
VIEWS = {"points": ("beyond (pp)", "+.1f"), "log_odds": ("log-odds, longest", "+.2f")}
# Beside the points.
BESIDE = {"at_baseline_accuracy": "at its baseline's accuracy (pp)", "at_own_accuracy": "at its own accuracy (pp)"}
BESIDE |= {"from_first": "from the first that trained (pp)"}
# Percent at the shortest length: a line whose baseline has less did not train.
TRAINED = 99.0
CLEAR = 0.05
INSIDE = ["line", "target, shortest", "target, longest", "variance", "of its baseline: target, shortest"]
INSIDE += ["target, longest", "variance"]
NOTE = (
    "The gain of each line over its baseline, paired by seed: in points, the mean over lengths beyond training, and in "
    "log-odds at the longest. *Change*: from the gain of the line above, with its 95% interval, and the p of its "
    "paired t-test after Holm's correction over the path. *From the first that trained*: the change from the gain of "
    "the first line whose baseline has at least 99% at the shortest length; those whose baseline has less are marked "
    "\\*. *Pooled*: from the last clear change (p < 0.05, points) on, each seed's mean over the lines."
)
INSIDE_NOTE = (
    "Inside the models as trained, of all lines that are compared. *Target*: attention to it, of the head that has "
    "most of it in whichever layer. *Variance*: of O in the last layer, at the longest length over that at the "
    "shortest, geometric mean over seeds."
)
# By the rule of the test, its words in the picture, and how far its marks are from the middle of their line.
RULES = {"last": ("last weights", -0.15), "averaged": ("averaged weights", 0.15)}
# Inches: of a line, and of everything above and below the lines.
LINE, MARGINS = 0.22, 0.95
GAIN = ["difference", "difference_low", "difference_high"]


def main() -> None:
    """Write the tables and the picture."""
    write_text(HERE / "path.md", tables())
    study, _ = read_all("depth", read_yaml(PATH))
    write_figure(HERE / "path", draw(study.question, read_csv(HERE / "board.csv"), _lines(RUNGS)))


def tables() -> str:
    """Return the path of both studies as Markdown, of their results in git: three tables a task."""
    parts = ["# The path of depth"]
    for name, rungs in RUNGS_OF_STUDY.items():
        params = read_yaml(PATH)
        study, results = read_all(name, params)
        sequences = held_out(params, study)["sequences"]
        (task,) = study.tasks
        parts.append(f"## The path on {task}")
        tested = by_rule(results)
        for rule in RULES:
            found = path(rows(tested, rule=rule), _lines(rungs), dict(study.pairs), sequences)
            parts.append(_gains(found, rule))
        last = rows(tested, rule="last")
        cells = [[line, *_inside(last, line), *_inside(last, baseline)] for line, baseline in study.pairs]
        parts.append(table(INSIDE, cells))
    return "\n\n".join([*parts, NOTE, INSIDE_NOTE]) + "\n"


def _lines(rungs: Sequence[str]) -> list[str]:
    return [f"{rung}-ln" for rung in rungs]


def path(results: pd.DataFrame, lines: Sequence[str], baselines: Mapping[str, str], sequences: int) -> pd.DataFrame:
    """Return a row a line: line, n, and for each of VIEWS its gain and `<view>_change`, from that of the line before.

    Both with 95% t intervals over seeds (`…_low`, `…_high`), and `<view>_p` of the change, after Holm's correction.
    Beside them the points at equal accuracy (`compare.gains.gain`), `trained`, whether the baseline has
    TRAINED at the shortest length, and `from_first`, the change of the points from the first line that has. Where a
    change is clear, a last row has the points from the last such line on, each seed's mean over its lines.
    `results`: of one task and rule; each accuracy is of so many `sequences`.
    """
    on_path: list[dict[str, Any]] = []
    points = []
    before = first = pd.DataFrame(columns=list(VIEWS))
    for line in lines:
        ours, theirs = (percent_by_length(rows(results, line=name)) for name in (line, baselines[line]))
        gains = _gains_by_seed(ours, theirs, sequences)
        trained = bool(theirs.iloc[:, 0].mean() >= TRAINED)
        row: dict[str, Any] = {"line": line, "n": len(gains), "trained": trained}
        _, at_equal = gain(ours, theirs, LONGEST_TRAINED, sequences)
        for view in ("at_baseline_accuracy", "at_own_accuracy"):
            row |= columns(view, at_equal[view])
        since = difference(*(of.to_numpy(dtype=float) for of in of_both(gains["points"], first["points"])))
        row |= columns("from_first", (since.mean, since.low, since.high))
        if first.empty and trained:
            first = gains
        for view in VIEWS:
            own = difference(gains[view].to_numpy(), np.zeros(len(gains)))
            change = difference(*(of.to_numpy(dtype=float) for of in of_both(gains[view], before[view])))
            row |= columns(view, (own.mean, own.low, own.high))
            row |= columns(f"{view}_change", (change.mean, change.low, change.high))
            row[f"{view}_p"] = change.p
        on_path.append(row)
        points.append(gains["points"])
        before = gains
    frame = pd.DataFrame(on_path)
    for view in VIEWS:
        frame[f"{view}_p"] = holm(frame[f"{view}_p"].to_numpy(dtype=float))
    clear = frame.index[frame["points_p"] < CLEAR]
    if len(clear):
        by_seed = pd.concat(points[clear[-1] :], axis=1).mean(axis=1).to_numpy()
        about = {"line": f"pooled from {lines[clear[-1]]} on", "n": len(by_seed), "trained": True}
        pooled = pd.DataFrame([about | columns("points", interval(by_seed))])
        frame = pd.concat([frame, pooled], ignore_index=True)
    return frame


def _gains_by_seed(ours: pd.DataFrame, theirs: pd.DataFrame, sequences: int) -> pd.DataFrame:
    """Return the gain in each of VIEWS, a row a seed that both have."""
    ours, theirs = of_both(ours, theirs)
    our_odds, their_odds = (log_odds(arm.iloc[:, -1].to_numpy() / 100, sequences) for arm in (ours, theirs))
    return pd.DataFrame({"points": percent_beyond(ours - theirs, LONGEST_TRAINED), "log_odds": our_odds - their_odds})


def _gains(path: pd.DataFrame, rule: str) -> str:
    """Return the gains by one rule as a table."""
    head = ["line", "rule", "n"]
    names = path["line"].where(path["trained"], path["line"] + r" \*")
    cells = [names, [rule] * len(path), path["n"].astype(str)]
    for view, (words, how) in VIEWS.items():
        head += [words, "change", "p"]
        p = [estimate(".3f", value) for value in path[f"{view}_p"]]
        cells += [texts(path, view, how), texts(path, f"{view}_change", how), p]
        if view == "points":
            head += BESIDE.values()
            cells += [texts(path, beside, how) for beside in BESIDE]
    return table(head, zip(*cells, strict=True), texts=2)


def _inside(results: pd.DataFrame, line: str) -> list[str]:
    """Return attention to the target at the shortest and longest length, and the ratio of the variances of O."""
    measured = rows(results, line=line).set_index("seed")
    shortest, longest = (rows(measured, length=measured["length"].agg(end)) for end in ("min", "max"))
    ratio = stats.gmean((longest["variance"] / shortest["variance"]).to_numpy(dtype=float))
    targets = [of_length.filter(regex="^target").max(axis=1).mean() for of_length in (shortest, longest)]
    return [*(f"{target:.2f}" for target in targets), f"{ratio:.3f}"]


def draw(question: str, board: pd.DataFrame, path: list[str]) -> Drawing:
    """Draw accuracy beyond training and gain, from the top in the order of `path`; `board`: of `studies.board`.

    On the left the accuracy of each line and of its baseline, with the last weights; on the right the gain of the line,
    by rule.
    """
    heights = pd.Series(np.arange(len(path)), path)
    (task,) = board["task"].unique()
    figure = style.figure(MARGINS + LINE * len(path))
    accuracy, gain = figure.subplots(1, 2, sharex="col", sharey=True)
    last = rows(board, rule="last").set_index("line")
    baselines = last.loc[path, "baseline"].tolist()
    style.marks(accuracy, last.loc[baselines, BEYOND], heights - 0.15, style.SERIES[3], "its baseline")
    style.marks(accuracy, last.loc[path, BEYOND], heights + 0.15, style.SERIES[1], "the line")
    for place, (rule, (words, shift)) in enumerate(RULES.items()):
        of_rule = rows(board, rule=rule).set_index("line").reindex(path)
        style.marks(gain, of_rule[GAIN], heights + shift, style.SERIES[2 * place], words)
    gain.axvline(0, color="#000000", lw=0.9, zorder=0)
    accuracy.set(title=task, xlabel="accuracy beyond training (%)", yticks=range(len(path)), yticklabels=path)
    gain.set(title=task, xlabel="gain over its baseline (points)")
    accuracy.set_ylim(len(path) - 0.4, -0.6)
    for axes in (accuracy, gain):
        axes.label_outer()
        axes.grid(axis="y", visible=False)
    style.letter([accuracy, gain])
    style.legend_above(figure, columns=4)
    counts = rows(board[board["line"].isin(path)], rule="last")["n"].dropna()
    caption = (
        "From line to line one thing changes. Means over the lengths beyond training, paired by seed, "
        f"n = {variants.seeds(counts)} seeds; bars: 95% t intervals over seeds."
    )
    return Drawing(figure, question, caption)


if __name__ == "__main__":
    run_script(main)
