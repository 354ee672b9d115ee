"""The board of a study as Markdown."""

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import power
from vanishing_variance.results.compare.gains import NOTE, VIEWS, texts_of_seeds
from vanishing_variance.studies.board import accuracy_lengths
from vanishing_variance.studies.results import NO_ANSWER

RULES = ("last", "averaged")
CAPTION = (
    "Accuracy (%), mean over the lengths beyond training and at single lengths, with 95% t intervals over n seeds. "
    "More: [board.csv](board.csv)."
)
AT_EQUAL_LOSS = (
    " *At its baseline's loss*, *at its own*: in the same way, at equal log loss at the training lengths, after as "
    "many steps, extrapolated where the arms' losses do not overlap; losses are of the same 25,600 fresh sequences. "
    "Where one is below 1e-5, stored too coarsely, nothing is said."
)
ALL_SEEDS = " *From all seeds*: the difference from all seeds of the baseline, not paired, by Welch's interval."
GAINS = {
    **VIEWS,
    "all_seeds": ("from all seeds (pp)", "+.1f"),
    "at_baseline_loss": ("at its baseline's loss (pp)", "+.1f"),
    "at_own_loss": ("at its own loss (pp)", "+.1f"),
}


def board_table(name: str, question: str, board: pd.DataFrame) -> str:
    """Return the tables of a board with what they say."""
    notes = {"all_seeds": ALL_SEEDS, "at_baseline_loss": AT_EQUAL_LOSS}
    note = NOTE + "".join(text for name, text in notes.items() if name in board)
    return "\n\n".join([f"# {name}", question, CAPTION, *tables_of_tasks(board), note]) + "\n"


def tables_of_tasks(board: pd.DataFrame) -> list[str]:
    """Return two tables a task, accuracies and gains: a row a line as trained, and one with averaged weights."""
    parts = []
    for task, of_task in board.groupby("task", sort=False):
        shown = of_task[of_task["rule"].isin(RULES)]
        parts += [f"## {task}", _accuracies(shown)]
        parts += _without_answers(shown)
        gains = shown.dropna(subset="n_paired")
        if len(gains):
            parts.append(_gains(gains))
    return parts


def _accuracies(board: pd.DataFrame) -> str:
    lengths = [length for length in accuracy_lengths(board) if board[f"accuracy_{length}"].notna().any()]
    columns = ["beyond", *(f"accuracy_{length}" for length in lengths)]
    board = board.drop_duplicates(["line", "rule"])  # of a second baseline
    cells = board[["line", "rule"]].assign(n=board["n"].astype(str))
    for column in columns:
        cells[column] = texts_of_seeds(board, column, ".1f", "n")
    diverged = board["note"].notna()
    cells.loc[diverged, "rule"] = board["note"]
    cells.loc[diverged, ["n", *columns]] = ""
    return table(["line", "rule", "n", "beyond", *map(power, lengths)], cells.to_numpy(), texts=2)


def _without_answers(board: pd.DataFrame) -> list[str]:
    """Return a line for each model whose answers are not all numbers."""
    missing = board.drop_duplicates(["line", "rule"]).reindex(columns=["line", "rule", NO_ANSWER]).dropna()
    said = "of the answers of a model at a length are not a number; they count as wrong."
    return [f"*{row.line}*, {row.rule}: up to {row.no_answer:.1%} {said}" for row in missing.itertuples()]


def _gains(board: pd.DataFrame) -> str:
    views = {name: view for name, view in GAINS.items() if name in board and board[name].notna().any()}
    cells = [board[name].astype(str).tolist() for name in ("line", "baseline", "rule", "n_paired")]
    cells += [texts_of_seeds(board, name, how, "n_paired") for name, (_, how) in views.items()]
    heads = [head for head, _ in views.values()]
    return table(["line", "baseline", "rule", "n", *heads], zip(*cells, strict=True), texts=3)
