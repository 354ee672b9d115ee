"""The leaderboard's CSV files as Markdown tables."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import MISSING, estimate, power
from vanishing_variance.leaderboard.ablation import COUNTS
from vanishing_variance.leaderboard.files import TRAINED


def board_table(board: pd.DataFrame) -> str:
    """Return a row per line as trained, the best first, by the smallest accuracy of all tasks."""
    trained = board[board["rule"] == TRAINED]
    caption = (
        f"Accuracy beyond training (%), means over n = {trained['n'].max()} seeds with 95% t intervals, of the lines "
        "as trained; the difference from the baseline (points); the accuracy of hard attention at the longest length. "
        "Ranks, tests, other rules and lengths: [board.csv](board.csv)."
    )
    tasks = list(trained["task"].unique())
    head = ["line", "smallest"]
    for task in tasks:
        head += [task, f"{task}: difference", f"{task}: hard"]
    cells = []
    for line, rows in trained.sort_values("overall_rank", kind="stable").groupby("line", sort=False):
        texts = [str(line), estimate(".1f", rows["overall"].iloc[0])]
        for row in rows.sort_values("task").to_dict("records"):
            beyond = _estimate(row, "beyond") if row["state"] == "ok" else row["state"]
            texts += [beyond, _estimate(row, "difference", "+.1f"), estimate(".1f", row["hard"])]
        cells.append(texts)
    return f"# Leaderboard\n\n{caption}\n\n{table(head, cells)}\n"


def ablation_tables(gains: pd.DataFrame) -> str:
    """Return a table per task: a row per piece, a column per measure and count."""
    caption = (
        "Percentage points that each piece brings, with 95% t intervals over n seeds: added to the baseline alone, its "
        "share (Shapley value), and added to all others last."
    )
    parts = [f"# The pieces of {', '.join(gains['line'].unique())}", caption]
    for (task, n), rows in gains.groupby(["task", "n"], sort=False):
        columns = [(measure, count) for measure in rows["measure"].unique() for count in COUNTS]
        cells = []
        for (piece, change), of_piece in rows.groupby(["piece", "change"], sort=False, dropna=False):
            texts = dict.fromkeys(columns, "")
            for row in of_piece.to_dict("records"):
                texts[row["measure"], row["count"]] = _estimate(row, "gain", "+.1f")
            name = f"{piece}: {change}" if piece != "all" else "all"
            cells.append([name, *texts.values()])
        head = ["piece", *(f"{measure}: {count}" for measure, count in columns)]
        parts += [f"## {task}, n = {n}", table(head, cells)]
    return "\n\n".join(parts) + "\n"


def ceiling_table(ceiling: pd.DataFrame) -> str:
    """Return a row per line, the smallest offset first."""
    caption = (
        f"Accuracy of hard attention on argmax (%), means over n = {ceiling['seed'].nunique()} seeds: measured, and "
        "predicted from the offset, what a class adds to an item's logit in units of the priority (standard deviation "
        "over classes, median over seeds)."
    )
    lengths = sorted(ceiling["length"].unique())
    percent = ceiling.assign(predicted=100 * ceiling["predicted"], measured=100 * ceiling["hard"])
    offsets = ceiling.groupby("line")["offset"].median().sort_values(kind="stable")
    cells = []
    for line, offset in offsets.items():
        of_line = percent[percent["line"] == line].groupby("length")[["predicted", "measured"]].mean()
        means = [f"{mean:.1f}" for mean in of_line.to_numpy().ravel()]
        cells.append([str(line), f"{offset:.1e}", *means])
    head = ["line", "offset"]
    for length in lengths:
        head += [f"{power(length)}: predicted", f"{power(length)}: measured"]
    return f"# The ceiling of hard attention on argmax\n\n{caption}\n\n{table(head, cells)}\n"


def learned_table(learned: pd.DataFrame) -> str:
    """Return a row per line and parameter, a column per task."""
    tasks = list(learned["task"].unique())
    cells = []
    for (line, parameter, n), rows in learned.groupby(["line", "parameter", "n"], sort=False):
        means = dict.fromkeys(tasks, MISSING)
        for row in rows.to_dict("records"):
            means[row["task"]] = estimate(".2f", row["mean"], row["low"], row["high"])
        cells.append([f"{line}: {parameter}", str(n), *means.values()])
    head = ["parameter", "n", *tasks]
    caption = "Means over n seeds, with 95% t intervals."
    return f"# Parameters that the attention maps learned\n\n{caption}\n\n{table(head, cells)}\n"


def _estimate(row: Mapping[Any, Any], name: str, how: str = ".1f") -> str:
    return estimate(how, row[name], row[f"{name}_low"], row[f"{name}_high"])
