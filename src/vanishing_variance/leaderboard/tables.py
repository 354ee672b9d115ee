"""The leaderboard's CSV files as Markdown tables."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import MISSING, estimate, power
from vanishing_variance.leaderboard.files import PLAIN


def board_table(board: pd.DataFrame) -> str:
    """Return a row per line as trained, the best first, by the smallest accuracy of all tasks."""
    trained = board[board["rule"] == PLAIN]
    caption = (
        f"Accuracy beyond training (%), means over n = {trained['n'].max()} seeds with 95% t intervals, of the lines "
        "as trained; the difference from the baseline (points); the accuracy of hard attention at the longest length. "
        "Ranks, tests, other rules and lengths: [board.csv](board.csv)."
    )
    head = ["line", "smallest"]
    for task in trained["task"].unique():
        head += [task, f"{task}: difference", f"{task}: hard"]
    cells: dict[str, list[str]] = {}
    for row in trained.sort_values(["overall_rank", "line", "task"]).to_dict("records"):
        texts = cells.setdefault(row["line"], [row["line"], estimate(".1f", row["overall"])])
        beyond = _estimate(row, "beyond") if row["state"] == "ok" else row["state"]
        texts += [beyond, _estimate(row, "difference", "+.1f"), estimate(".1f", row["hard"])]
    return f"# Leaderboard\n\n{caption}\n\n{table(head, cells.values())}\n"


def ablation_tables(gains: pd.DataFrame) -> str:
    """Return a table per task: a row per piece, a column per measure and count."""
    caption = (
        "Percentage points that each piece brings, with 95% t intervals over n seeds: added to the baseline alone, its "
        "share (Shapley value), and added to all others last."
    )
    parts = [f"# The pieces of {', '.join(gains['line'].unique())}", caption]
    for (task, n), rows in gains.groupby(["task", "n"], sort=False):
        texts = [_estimate(row, "gain", "+.1f") for row in rows.to_dict("records")]
        pieces = (rows["piece"] + ": " + rows["change"]).where(rows["piece"] != "all", "all")
        columns = rows["measure"] + ": " + rows["count"]
        cells = rows.assign(piece=pieces, column=columns, text=texts)
        parts += [f"## {task}, n = {n}", _pivoted(cells, ["piece"], "column", missing="")]
    return "\n\n".join(parts) + "\n"


def ceiling_table(ceiling: pd.DataFrame) -> str:
    """Return a row per line, the smallest offset first."""
    caption = (
        f"Accuracy of hard attention on argmax (%), means over n = {ceiling['seed'].nunique()} seeds: measured, and "
        "predicted from the offset, what a class adds to an item's logit in units of the priority (standard deviation "
        "over classes, median over seeds)."
    )
    percent = ceiling.assign(predicted=100 * ceiling["predicted"], measured=100 * ceiling["hard"])
    offsets = ceiling.groupby("line")["offset"].median().sort_values(kind="stable")
    cells = []
    for line, offset in offsets.items():
        by_length = percent[percent["line"] == line].groupby("length")
        means = by_length[["predicted", "measured"]].mean().to_numpy()
        cells.append([str(line), f"{offset:.1e}", *(f"{mean:.1f}" for mean in means.ravel())])
    head = ["line", "offset"]
    for length in sorted(ceiling["length"].unique()):
        head += [f"{power(length)}: predicted", f"{power(length)}: measured"]
    return f"# The ceiling of hard attention on argmax\n\n{caption}\n\n{table(head, cells)}\n"


def learned_table(learned: pd.DataFrame) -> str:
    """Return a row per line and parameter, a column per task."""
    texts = [estimate(".2f", *values) for values in learned[["mean", "low", "high"]].to_numpy()]
    parameters = learned["line"] + ": " + learned["parameter"]
    cells = learned.assign(parameter=parameters, text=texts)
    means = _pivoted(cells, ["parameter", "n"], "task", missing=MISSING)
    caption = "Means over n seeds, with 95% t intervals."
    return f"# Parameters that the attention maps learned\n\n{caption}\n\n{means}\n"


def _pivoted(cells: pd.DataFrame, index: list[str], column: str, missing: str) -> str:
    """Return a table of the column `text`; rows and columns in the order of the frame."""
    wide = cells.pivot_table("text", index, column, aggfunc="first", sort=False)
    wide = wide.fillna(missing).reset_index().astype(str)
    return table([*wide.columns], wide.to_numpy())


def _estimate(row: Mapping[Any, Any], name: str, how: str = ".1f") -> str:
    return estimate(how, row[name], row[f"{name}_low"], row[f"{name}_high"])
