"""The leaderboard as Markdown: a table a task, and one of both."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from vanishing_variance.harness.markdown import MISSING, power, row
from vanishing_variance.leaderboard.files import TRAINED
from vanishing_variance.leaderboard.rows import DIVERGED, HIGH, SHOWN
from vanishing_variance.leaderboard.treatments import Treatment
from vanishing_variance.statistics.power import ALPHA

SETTINGS = list(Treatment.model_fields)
# Of a number: as Python's format has it, or by a function.
Format = str | Callable[[Any], str]
NOTE = (
    "Mean ± half of the 95% t interval, over n seeds. Test time: the attention map as trained; with the adaptive "
    "temperature of Veličković et al. as published, or fitted to the mistakes of one half of the models for the "
    "other, with labelled sequences of the test lengths; or hard attention. Beyond: mean accuracy over all test "
    "lengths longer than the training lengths. Difference: beyond minus that of the baseline as trained, over the "
    "seeds that both have, with Cohen's d_z and the p of the paired t-test, adjusted by Holm's method over the rows "
    "of the task. Rank 2–4: one row is significantly better, and so many are significantly worse that the rank is 4 "
    "at most; between 2 and 4 differences are not significant (paired t-tests of beyond between all pairs of rows "
    f"of the task, adjusted by Holm's method over the pairs, α = {ALPHA:g}). ≥ {HIGH:g}% up to: the longest length "
    f"with a mean accuracy of {HIGH:g}% or more there and at all shorter ones. Target weight (as the map gives it: "
    "not all maps' weights sum to one), and the accuracy of hard attention (all weight on the largest logit, to "
    "which maps of the softmax and entmax families tend as they sharpen): at the longest length. Variance of O: the "
    "global variance of the attention outputs at the longest length, over that at the shortest, the geometric mean "
    "over seeds. Step: CPU time of a training step, times the baseline's. At chance: at the shortest length no more "
    "accurate than guesses."
)
OVERALL_NOTE = (
    "Both tasks, lines as trained, by the smaller of their two accuracies beyond training; – where one diverged."
)


def markdown(board: pd.DataFrame) -> str:
    """Return the tables of a frame of `board.board` and the column `step`: of each task and of all, rows by rank."""
    lines = ["# Leaderboard", "", NOTE]
    for task, of in board.groupby("task", sort=False):
        lines += ["", f"## {task}", "", *_task(of)]
        diverged = of[of["state"] == DIVERGED].to_dict("records")
        lines += ["", *(f"- {one['line']} diverged: {one['note']}" for one in diverged)] if diverged else []
    lines += ["", "## Overall", "", OVERALL_NOTE, "", *_overall(board[board["rule"] == TRAINED])]
    return "\n".join(lines) + "\n"


def _task(rows: pd.DataFrame) -> Iterator[str]:
    text = ["line", "test time", ", ".join(SETTINGS)]
    numbers: list[tuple[str, str, Format]] = [
        ("n", "n", "d"),
        ("beyond (%)", "beyond", ".1f"),
        ("difference (pp)", "difference", "+.1f"),
        ("d_z", "d_z", "+.1f"),
        ("p (Holm)", "p_holm", _p),
        *((f"{power(length)} (%)", f"accuracy_{length}", ".1f") for length in SHOWN if f"accuracy_{length}" in rows),
        (f"≥ {HIGH:g}% up to (items)", "longest_90", power),
        ("target weight", "target_weight", ".2f"),
        ("variance of O (×)", "variance_ratio", ".2g"),
        ("hard attention (%)", "hard", ".1f"),
        ("step (×)", "step", ".1f"),
    ]
    yield row(["rank", *text, *(head for head, _, _ in numbers), "state"])
    yield row(["--:", *["---"] * len(text), *["--:"] * len(numbers), "--:"])
    for of in rows.to_dict("records"):
        yield row([_rank(of), *_names(of), *(_number(of, name, how) for _, name, how in numbers), of["state"]])


def _overall(rows: pd.DataFrame) -> Iterator[str]:
    tasks = list(dict.fromkeys(rows["task"]))
    beyond = {(of["line"], of["task"]): of for of in rows.to_dict("records")}
    yield row(["rank", "line", ", ".join(SETTINGS), "smaller (%)", *(f"{task} (%)" for task in tasks)])
    yield row(["--:", "---", "---", "--:", *["--:"] * len(tasks)])
    for of in rows.drop_duplicates("line").sort_values("overall_rank", kind="stable").to_dict("records"):
        line, _, settings = _names(of)
        means = [_number(beyond[of["line"], task], "beyond", ".1f") for task in tasks]
        yield row([_number(of, "overall_rank", "d"), line, settings, _number(of, "overall", ".1f"), *means])


def _names(of: Mapping[Any, Any]) -> tuple[str, str, str]:
    """Return the line, its rule and its settings."""
    line = f"{of['line']} (baseline)" if of["baseline"] else str(of["line"])
    return line, str(of["rule"]), ", ".join(str(of[name]) for name in SETTINGS)


def _rank(of: Mapping[Any, Any]) -> str:
    low, high = of["rank_low"], of["rank_high"]
    if pd.isna(low):
        return MISSING
    return str(low) if low == high else f"{low}–{high}"


def _number(of: Mapping[Any, Any], name: str, how: Format) -> str:
    """Return a number, with half of its interval where it has one; – where there is none."""
    if pd.isna(of[name]):
        return MISSING
    high = of.get(f"{name}_high")
    text = f"{of[name]:{how}}" if isinstance(how, str) else how(of[name])
    return text if high is None or pd.isna(high) else f"{text} ± {high - of[name]:.1f}"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
