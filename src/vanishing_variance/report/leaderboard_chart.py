"""The chart of the leaderboard's accuracies against length."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.core.ranges import Range
from vanishing_variance.leaderboard.files import ADAPTIVE, FITTED, HARD, TRAINED
from vanishing_variance.report.chart_document import Choice, Curve, document
from vanishing_variance.report.formats import estimate
from vanishing_variance.study.markdown import drawn_power

# Of the best overall, so many are shown at first, beside the baseline.
BEST = 6
RULES = {
    TRAINED: "as trained",
    ADAPTIVE: "adaptive temperature, as published",
    FITTED: "adaptive temperature, fitted with labels at these lengths",
    HARD: "hard attention",
}
# The baseline's, and the others' in turn, from the palette of Okabe and Ito (2008), which is colour-blind-safe. As six
# and five have no common factor, thirty lines differ in colour or dashes.
BLACK = "#000000"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ((1, 0), (8, 3), (2, 3), (9, 3, 2, 3), (14, 4))


def chart(accuracy: pd.DataFrame, board: pd.DataFrame, trained: Range) -> dict[str, Any]:
    """Return a document in Vega-Lite with the accuracies of accuracy.csv, a curve a line, by overall rank.

    `board`: metrics/leaderboard/board.csv; `trained`: the training lengths. Task and rule at test time are chosen
    beside the chart, and every line is shown or hidden there: at first the BEST lines and the baseline.
    """
    words = [_reading(row) for row in accuracy.to_dict("records")]
    rows = accuracy.assign(reading=words).rename(columns={"line": "curve"}).drop(columns="n")
    return document(
        rows,
        pd.DataFrame([{"shortest": trained.shortest, "longest": trained.longest}]),
        _curves(board[(board["rule"] == TRAINED) & board["line"].isin(accuracy["line"])]),
        [
            Choice("task", "task", {task: task for task in dict.fromkeys(accuracy["task"])}),
            Choice("rule", "at test time", {rule: of for rule, of in RULES.items() if rule in set(accuracy["rule"])}),
        ],
        title=json.dumps(f"trained on {trained.shortest} to {trained.longest} items"),
    )


def _curves(board: pd.DataFrame) -> list[Curve]:
    """Return the curves of the lines of a board's rows as trained, which have the same look in every chart of it."""
    ranked = board.sort_values("overall_rank", kind="stable", na_position="last").drop_duplicates("line")
    others = ranked.loc[~ranked["baseline"], "line"]
    looks = {line: (COLOURS[n % len(COLOURS)], DASHES[n % len(DASHES)]) for n, line in enumerate(others)}
    best = set(ranked["line"][:BEST])
    return [
        Curve(line, f"{line} (baseline)", BLACK) if first else Curve(line, line, *looks[line], shown=line in best)
        for line, first in zip(ranked["line"], ranked["baseline"], strict=True)
    ]


def _reading(row: Mapping[Any, Any]) -> str:
    where = f"{row['line']} at N = {drawn_power(row['length'])}"
    return f"{where}:\n{estimate(row['mean'], row['low'], row['high'])}, n = {row['n']} seeds"
