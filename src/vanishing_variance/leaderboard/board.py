"""The leaderboard as a frame: a row a task, line and rule at test time, ranked by the accuracy beyond training."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.leaderboard.files import TRAINED
from vanishing_variance.leaderboard.rows import DIVERGED, GAIN, RANKS, SHOWN, by_seed, numbers
from vanishing_variance.leaderboard.treatments import Treatment

# Standard errors over test sequences: by so much can a constant answer, the same in every seed, be above 1/classes.
SAMPLING = 3.0

_ENDS = ("", "_low", "_high")
_SETTINGS = tuple(Treatment.model_fields)
_BEYOND = ("n", *(f"beyond{end}" for end in _ENDS))
_LAST = ("longest_90", "target_weight", "variance_ratio", "hard", "overall", "overall_rank", "note")
_COUNTS = (*RANKS, "n", "n_paired", "longest_90", "overall_rank")
_TEXT = ("task", "line", "rule", *_SETTINGS, "baseline", "state", "note")


def board(
    accuracy: pd.DataFrame,
    attention: pd.DataFrame,
    treatments: Mapping[str, Treatment],
    *,
    classes: Mapping[str, int],
    sequences: int,
    longest: int,
    diverged: Mapping[tuple[str, str], str],
) -> pd.DataFrame:
    """Return a row a task, line and rule, by task and rank; the first of `treatments` is the baseline.

    `accuracy`: task, line, rule, seed, length, accuracy (a fraction); `attention`: task, line, seed, length, target,
    variance; `classes`: of each task's answers; `sequences`: that are tested a length; `longest`: the longest training
    length; `diverged`: what was said of lines that diverged, by task and line: each has a row without numbers, its
    task's last.

    Columns, in percent and percentage points, with 95% t intervals (`…_low`, `…_high`) where there are two seeds:
    `rank` within the task by `beyond`, `rank_low`, `rank_high` (see `standings`); whether it is the `baseline`;
    `state`: ok, at chance or diverged; `n` seeds; `beyond`, the mean accuracy over the lengths beyond training;
    `difference`, the same minus the baseline's as trained, over the `n_paired` seeds that both have, `d_z`, `p` and
    `p_holm`, adjusted over the rows of the task; `accuracy_<length>`; `longest_90` items; of rows as trained:
    `target_weight`, and `hard`, the accuracy of hard attention, at the longest length, `variance_ratio`, the global
    variance of O there over that at the shortest, the geometric mean over seeds, `overall`, the smallest `beyond` of
    all tasks, and `overall_rank` by it; `note`.

    Raises InputError when a line was not tested as trained and did not diverge, or not at the lengths of the others.
    """
    rows: list[dict[str, Any]] = []
    baseline = next(iter(treatments))
    for task, number in classes.items():
        percent = by_seed(accuracy[accuracy["task"] == task])
        found = numbers(percent, attention[attention["task"] == task], baseline, longest, _chance(number, sequences))
        for line, treatment in treatments.items():
            names = {"task": task, "line": line, "rule": TRAINED, **treatment.model_dump()}
            if (task, line) in diverged:
                rows.append({**names, "state": DIVERGED, "note": diverged[task, line]})
            elif (line, TRAINED) not in found:
                raise InputError(
                    f"leaderboard: {task}, {line}: was neither tested nor diverged in training; run make leaderboard"
                )
            rows += [{**names, "rule": rule, **of} for (one, rule), of in found.items() if one == line]
    return _arranged(pd.DataFrame(rows), baseline, list(classes))


def _chance(classes: int, sequences: int) -> float:
    """Return the percentage up to which a mean accuracy is not above chance, for the sequences are a sample."""
    chance = 1 / classes
    return 100 * (chance + SAMPLING * math.sqrt(chance * (1 - chance) / sequences))


def _arranged(rows: pd.DataFrame, baseline: str, tasks: list[str]) -> pd.DataFrame:
    """Return the rows by task and rank, with the overall ranks, and the columns in their order."""
    shown = [f"accuracy_{length}{end}" for length in SHOWN if f"accuracy_{length}" in rows for end in _ENDS]
    columns = ["task", *RANKS, "line", "rule", *_SETTINGS, "baseline", "state", *_BEYOND, *GAIN, *shown, *_LAST]
    as_trained = rows["rule"] == TRAINED
    rows = rows.reindex(columns=columns).assign(baseline=as_trained & (rows["line"] == baseline))
    smallest = rows[as_trained].groupby("line")["beyond"].agg(lambda of: of.min(skipna=False)).astype(float)
    places = smallest.round(9).rank(ascending=False, method="min")
    rows["overall"], rows["overall_rank"] = (rows["line"].map(of).where(as_trained) for of in (smallest, places))
    counts = list(_COUNTS)
    rows[counts] = rows[counts].astype("Int64")
    rounded = [name for name in columns if name not in (*_TEXT, *_COUNTS, "p", "p_holm")]
    rows[rounded] = rows[rounded].astype(float).round(6)
    order = rows["task"].map(tasks.index)
    return rows.assign(order=order).sort_values(["order", "rank"], ignore_index=True, kind="stable")[columns]


def summary(board: pd.DataFrame) -> dict[str, dict[str, float | None]]:
    """Return by task and line, in alphabetical order, the percentage `beyond` as trained; None where it diverged."""
    found: dict[str, dict[str, float | None]] = {}
    for of in board[board["rule"] == TRAINED].sort_values("line", kind="stable").to_dict("records"):
        value = None if pd.isna(of["beyond"]) else round(float(of["beyond"]), 2)
        found.setdefault(str(of["task"]), {})[str(of["line"])] = value
    return found
