"""The board of a study as Markdown."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate, power
from vanishing_variance.studies.board import PLAIN, SHOWN

RULES = (PLAIN, "averaged")


def board_table(name: str, question: str, board: pd.DataFrame) -> str:
    """Return a table a task, a row a line as trained, and one with averaged weights where they were tested."""
    caption = (
        "Accuracy (%), mean over the lengths beyond training and at single lengths, with 95% t intervals over n seeds; "
        "the difference from the baseline (points), paired by seed. More: [board.csv](board.csv)."
    )
    parts = [f"# {name}", question, caption]
    lengths = [length for length in SHOWN if f"accuracy_{length}" in board]
    head = ["line", "rule", "n", "beyond", "baseline", "difference", *map(power, lengths)]
    for task, of_task in board.groupby("task", sort=False):
        shown = of_task[of_task["rule"].isin(RULES)]
        cells = [_cells(row, lengths) for row in shown.to_dict("records")]
        parts += [f"## {task}", table(head, cells, texts=2)]
    return "\n\n".join(parts) + "\n"


def _cells(row: Mapping[Any, Any], lengths: list[int]) -> list[str]:
    if isinstance(row["note"], str):
        return [row["line"], row["note"], *[""] * (4 + len(lengths))]
    baseline = row["baseline"] if isinstance(row["baseline"], str) else ""
    at_lengths = [_estimate(row, f"accuracy_{length}") for length in lengths]
    gain = _estimate(row, "difference", "+.1f") if baseline else ""
    return [row["line"], row["rule"], str(row["n"]), _estimate(row, "beyond"), baseline, gain, *at_lengths]


def _estimate(row: Mapping[Any, Any], name: str, how: str = ".1f") -> str:
    return estimate(how, row[name], row[f"{name}_low"], row[f"{name}_high"])
