"""The one comparison of two lines: a tidy frame of statistics."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.arms import BEYOND, LONGEST, SHORTEST, Arms
from vanishing_variance.results.columns import NO_ANSWER, rows
from vanishing_variance.results.paired import STATISTICS
from vanishing_variance.results.runs import RULES
from vanishing_variance.statistics.adjusted import Estimate
from vanishing_variance.statistics.comparisons import holm
from vanishing_variance.statistics.intervals import NAN

KEYS = ["task", "line", "baseline", "rule"]
# Seeds that an interval needs to be shown.
FEWEST = 3
COLUMNS = [*KEYS, "scope", "statistic", "value", "low", "high", "n"]
# By the name of a column: the statistic, and the scope.
Columns = Mapping[str, tuple[str, Any]]
# Of the names of an estimate and the ends of its interval.
ENDS = {"value": "", "low": "_low", "high": "_high"}
# Whether each answer of a line on a task (task, line) is correct, by `<rule>-<length>`: (seeds, sequences).
Answers = Callable[[str, str], Mapping[str, Bool[np.ndarray, "S I"]]]


def compare(
    tested: pd.DataFrame,
    pairs: Iterable[tuple[str, str]],
    longest: Mapping[str, int],
    sequences: int,
    wanted: Collection[tuple[str, str]],
    rules: Iterable[str] = RULES,
    answers: Answers | None = None,
) -> pd.DataFrame:
    """Return COLUMNS, a row a task, line, baseline, rule, scope and statistic: its value, 95% interval and n seeds.

    `tested`: results by rule (`schema.by_rule`); `pairs`: lines and their baselines, "" for a line alone;
    `longest`: the longest training length by line; `wanted`: statistics, each with the scopes that it is asked at. With
    `p` there is `p_holm`: at a length corrected over the lengths, and beyond training over the pairs, of a task, rule
    and longest training length. A line of which a training diverged has no rows, and as a baseline is left out.
    """
    found = []
    pairs_and_rules = list(product(pairs, rules))
    for task, of_task in tested.groupby("task", sort=False):
        by_line = {line: of_line for line, of_line in of_task.groupby("line") if of_line["note"].isna().all()}
        for (line, baseline), rule in pairs_and_rules:
            ours, theirs = (rows(by_line.get(name, of_task[:0]), rule=rule) for name in (line, baseline))
            if len(ours):
                names = [name for name in (line, baseline) if name]
                correct = [answers(str(task), name) for name in names] if answers else []
                arms = Arms(ours, theirs, longest[line], sequences, rule, correct)
                found += [(task, line, baseline, rule, *row) for row in _statistics(arms, wanted)]
    frame = pd.DataFrame(found, columns=COLUMNS)
    return _with_holm(frame.assign(longest=frame["line"].map(longest)))[COLUMNS]


def _statistics(arms: Arms, wanted: Collection[tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each wanted statistic that the arms have: scope, statistic, value, low, high, n."""
    asked = {(name, scope): None for name, which in wanted for scope in arms.scopes(which)}
    for name, scope in asked:
        statistic = STATISTICS[name]
        if statistic.of_pair and arms.theirs.empty:
            continue
        value = statistic.of(arms, scope)
        if value is not None:
            ends = value if isinstance(value, tuple) else (value, NAN, NAN)
            seeds = arms.gains if statistic.of_pair else arms.ours
            yield scope, name, *ends, len(seeds)


def _with_holm(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame, with the longest training length, with `p_holm` below it."""
    tests = rows(frame, statistic="p").assign(statistic="p_holm")
    is_beyond = tests["scope"] == BEYOND
    of_lengths = tests[~is_beyond].groupby(KEYS, sort=False)["value"]
    of_pairs = tests[is_beyond].groupby(["task", "rule", "longest"], sort=False)["value"]
    for family in (of_lengths, of_pairs):
        corrected = family.transform(lambda p: holm(p.to_numpy(dtype=float)))
        tests.loc[corrected.index, "value"] = corrected
    return pd.concat([frame, tests], ignore_index=True)


def spread(frame: pd.DataFrame, *more_keys: str) -> pd.DataFrame:
    """Return a row a value of KEYS and `more_keys`, in their order, and four columns a statistic.

    `<statistic>`, `<statistic>_low`, `<statistic>_high` and `<statistic>_n`.
    """
    keys = [*KEYS, *more_keys]
    first = frame.drop_duplicates(keys).set_index(keys).index
    parts = []
    for column, end in {**ENDS, "n": "_n"}.items():
        parts.append(frame.pivot(index=keys, columns="statistic", values=column).add_suffix(end))
    wide = pd.concat(parts, axis=1).reindex(first).astype(float)
    return wide.rename_axis(columns=None).reset_index()


def view(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Return `spread` of the statistics that columns name, by these names; NaN where there is none."""
    lengths = frame["scope"][frame["scope"] != BEYOND]
    ends = {SHORTEST: lengths.min(), LONGEST: lengths.max()} if len(lengths) else {}
    parts = []
    for name, (statistic, which) in columns.items():
        scope = ends.get(which, which)
        of_column = rows(frame, statistic=statistic, scope=scope)
        parts.append(of_column.assign(statistic=name))
    names = [f"{name}{end}" for name in columns for end in (*ENDS.values(), "_n")]
    return spread(pd.concat(parts)).reindex(columns=[*KEYS, *names])


def notes_of_no_answer(results: pd.DataFrame) -> list[str]:
    """Return a line for each `line` and `rule` with answers that are no numbers; `no_answer`: their fraction."""
    keys = ["line", "rule"]
    most = results.reindex(columns=[*keys, NO_ANSWER]).groupby(keys, sort=False, as_index=False)[NO_ANSWER].max()
    said = "of the answers of a model at a length are not a number; they count as wrong."
    missing = most[most[NO_ANSWER] > 0]
    return [f"*{row.line}*, {row.rule}: up to {row.no_answer:.1%} {said}" for row in missing.itertuples()]


def head(column: tuple[str, Any]) -> str:
    """Return the words of a column above it."""
    statistic, which = column
    words = STATISTICS[statistic].head
    return f"{words}, {which}" if which in (SHORTEST, LONGEST) else words


def estimates(frame: pd.DataFrame, columns: Columns) -> dict[str, list[str]]:
    """Return the estimates of a view as text, by the words above them, in the formats of their statistics."""
    cells = {}
    for name, column in columns.items():
        cells[head(column)] = texts(frame, name, STATISTICS[column[0]].how)
    return cells


def texts(frame: pd.DataFrame, name: str, how: str, factor: float = 1) -> list[str]:
    """Return the estimate of this name in each row with `columns`, times `factor`, as `harness.numbers.estimate`."""
    numbers = factor * frame.reindex(columns=[f"{name}{end}" for end in ENDS.values()]).to_numpy(dtype=float)
    return [estimate(how, *row) for row in numbers]


def columns(name: str, values: Estimate) -> dict[str, float]:
    """Return an estimate by its name, and the ends of its interval as `<name>_low` and `<name>_high`."""
    return dict(zip((f"{name}{end}" for end in ENDS.values()), values, strict=True))


# The gain of a line over its baseline, as tables have it.
GAIN: Columns = {
    "difference": ("difference", BEYOND),
    "log_odds": ("log_odds", SHORTEST),
    "log_odds_longest": ("log_odds", LONGEST),
    "at_baseline_accuracy": ("at_baseline_accuracy", BEYOND),
    "at_own_accuracy": ("at_own_accuracy", BEYOND),
}
GAIN_NOTE = (
    "Gains are paired by seed, with 95% intervals over n seeds. *Beyond*: accuracy, the mean over the lengths beyond "
    "training. *Log-odds*: their difference at the shortest test length, and at the longest. "
    "*At its baseline's accuracy*, *at its own*: the points beyond training that are left at equal log-odds at the "
    "shortest length, the mean of either arm, by a regression line an arm, not paired, extrapolated where the arms do "
    "not overlap; it describes: that accuracy is an effect of the treatment, too, and as it is measured with error, "
    "too little is taken off."
)
