"""The path of a study: lines that differ in one thing each from the line before, and where their gain changes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.accuracy import of_both, percent_by_length, rows
from vanishing_variance.results.compare.gains import UNKNOWN, columns, gain, texts
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.log_odds import log_odds
from vanishing_variance.statistics.paired import difference
from vanishing_variance.studies.steps import LAST
from vanishing_variance.studies.study import Study

RULES = (LAST, "averaged")
# By the view of a gain, its head in a table and Python's format.
VIEWS = {"points": ("beyond (pp)", "+.1f"), "log_odds": ("log-odds, longest", "+.2f")}
# Beside the points.
BESIDE = {"adjusted": "at equal accuracy (pp)", "from_first": "from the first that trained (pp)"}
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


def path_section(results: pd.DataFrame, study: Study, longest: Mapping[str, int], sequences: int) -> str:
    """Return the path of a study as Markdown, two tables a task; nothing where it has none.

    `results`: of `reading.by_rule`; `longest`: of training, by range; each accuracy is of so many `sequences`.
    """
    if not study.path:
        return ""
    longest_of_path = longest[study.range_of(study.path[0])]
    parts = []
    for task, of_task in results.groupby("task", sort=False):
        parts.append(f"## The path on {task}")
        for rule in RULES:
            of_rule = rows(of_task, rule=rule)
            if len(of_rule):
                found = path(of_rule, study.path, study.baselines, longest_of_path, sequences)
                parts.append(_gains(found, rule))
        pairs = study.baselines.items()
        inside = [[line, *_inside(of_task, line), *_inside(of_task, baseline)] for line, baseline in pairs]
        parts.append(table(INSIDE, inside))
    return "\n" + "\n\n".join([*parts, NOTE, INSIDE_NOTE]) + "\n"


def path(
    results: pd.DataFrame, lines: Sequence[str], baselines: Mapping[str, str], longest: int, sequences: int
) -> pd.DataFrame:
    """Return a row a line: line, n, and for each of VIEWS its gain and `<view>_change`, from that of the line before.

    Both with 95% t intervals over seeds (`…_low`, `…_high`), and `<view>_p` of the change, after Holm's correction.
    Beside them `adjusted`, the points at equal accuracy (`compare.gains.gain`), `trained`, whether the baseline has
    TRAINED at the shortest length, and `from_first`, the change of the points from the first line that has. Where a
    change is clear, a last row has the points from the last such line on, each seed's mean over its lines.
    `results`: of one task and rule.
    """
    on_path: list[dict[str, Any]] = []
    points = []
    before = first = pd.DataFrame(columns=list(VIEWS))
    for line in lines:
        ours, theirs = (percent_by_length(rows(results, line=name)) for name in (line, baselines[line]))
        gains = _gains_by_seed(ours, theirs, longest, sequences)
        trained = not theirs.empty and bool(theirs.iloc[:, 0].mean() >= TRAINED)
        row: dict[str, Any] = {"line": line, "n": len(gains), "trained": trained}
        row |= columns("adjusted", gain(ours, theirs, longest, sequences)[1]["adjusted"] if len(gains) else UNKNOWN)
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
        by_seed = pd.concat(points[clear[-1] :], axis=1).mean(axis=1).dropna().to_numpy()
        about = {"line": f"pooled from {lines[clear[-1]]} on", "n": len(by_seed), "trained": True}
        pooled = pd.DataFrame([about | columns("points", interval(by_seed))])
        frame = pd.concat([frame, pooled], ignore_index=True)
    return frame


def _gains_by_seed(ours: pd.DataFrame, theirs: pd.DataFrame, longest: int, sequences: int) -> pd.DataFrame:
    """Return the gain in each of VIEWS, a row a seed that both have: none where a training diverged."""
    ours, theirs = of_both(ours, theirs)
    if ours.empty or theirs.empty:
        return pd.DataFrame(columns=list(VIEWS), dtype=float)
    beyond = ours.columns[ours.columns.to_numpy() > longest]
    last = beyond[-1]
    our_odds, their_odds = (log_odds(arm[last].to_numpy() / 100, sequences) for arm in (ours, theirs))
    points = (ours - theirs)[beyond].mean(axis=1)
    return pd.DataFrame({"points": points, "log_odds": our_odds - their_odds})


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
    measured = rows(results, line=line, rule=LAST).dropna(subset="target").set_index("seed")
    if measured.empty:
        return [estimate("", None)] * 3
    shortest, longest = (rows(measured, length=measured["length"].agg(end)) for end in ("min", "max"))
    ratio = stats.gmean((longest["variance"] / shortest["variance"]).to_numpy(dtype=float))
    targets = [of_length.filter(regex="^target").max(axis=1).mean() for of_length in (shortest, longest)]
    return [*(f"{target:.2f}" for target in targets), f"{ratio:.3f}"]
