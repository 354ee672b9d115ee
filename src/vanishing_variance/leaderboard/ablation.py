"""What each piece of a treatment brings: its settings against the baseline's, in all combinations."""

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.markdown import power
from vanishing_variance.harness.markdown import table as markdown_table
from vanishing_variance.leaderboard.files import TRAINED
from vanishing_variance.leaderboard.rows import by_seed
from vanishing_variance.leaderboard.treatments import PATH, Treatment
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.shapley import shapley

# How a piece's gain is counted: added to the baseline alone, over all orders, taken from the whole treatment.
ALONE, SHARE, LAST = COUNTS = ("alone", "share", "last")
BEYOND, ALL = "beyond training", "all"
COLUMNS = ("line", "task", "measure", "piece", "change", "count", "n", "gain", "gain_low", "gain_high")
NOTE = (
    "Percentage points that each piece of the treatment brings, lines as trained, with half of the 95% t interval over "
    "n seeds. Alone: added to the baseline. Share: its Shapley value, the mean over all orders in which the pieces can "
    "be added; the shares add up to the gain of the whole. Last: added to all others."
)


def cells(treatments: Mapping[str, Treatment], line: str) -> dict[frozenset[str], str]:
    """Return the line of each set of pieces, the settings in which `line` differs from the baseline, the first line.

    Raises InputError, which names the settings, when a combination is no line.
    """
    baseline, whole = next(iter(treatments.values())), treatments[line]
    changed = {name: value for name, value in whole if value != getattr(baseline, name)}
    lines = {treatment: name for name, treatment in reversed(list(treatments.items()))}
    found = {}
    for some in chain.from_iterable(combinations(changed, size) for size in range(len(changed) + 1)):
        needed = baseline.model_copy(update={name: changed[name] for name in some})
        if needed not in lines:
            text = ", ".join(f"{name}: {value}" for name, value in needed)
            raise InputError(f"{PATH}: ablation is {line}, which needs the line {{{text}}}; there is none")
        found[frozenset(some)] = lines[needed]
    return found


def ablation(accuracy: pd.DataFrame, treatments: Mapping[str, Treatment], line: str, longest: int) -> pd.DataFrame:
    """Return the gains of each piece of `line`: COLUMNS, in percentage points, over the seeds of all combinations.

    `accuracy`, `treatments` and `longest` as for `board`; a task of which a combination diverged is left out.
    `measure`: beyond training, or the longest test length; `piece`: a setting, or `all`, whose gain is the line's;
    `change`: the piece's settings; `count`: alone, share or last.
    """
    of_pieces, rows = cells(treatments, line), []
    baseline, whole = next(iter(treatments.values())), treatments[line]
    for task, of_task in accuracy.groupby("task", sort=False):
        percent = by_seed(of_task)
        frames = {some: percent[of, TRAINED] for some, of in of_pieces.items() if (of, TRAINED) in percent}
        if len(frames) < len(of_pieces):
            continue
        seeds = reduce(pd.Index.intersection, (frame.index for frame in frames.values()))
        lengths = np.array(percent[next(iter(percent))].columns, dtype=int)
        for measure, chosen in {BEYOND: lengths > longest, power(lengths[-1]): lengths == lengths[-1]}.items():
            values = {some: frame.loc[seeds, chosen].mean(axis=1).to_numpy() for some, frame in frames.items()}
            for piece, count, gain in _gains(values):
                change = "" if piece == ALL else f"{getattr(baseline, piece)} → {getattr(whole, piece)}"
                numbers = [round(value, 6) for value in interval(gain)]
                rows.append((line, task, measure, piece, change, count, len(gain), *numbers))
    return pd.DataFrame(rows, columns=COLUMNS)


def _gains(values: Mapping[frozenset[str], np.ndarray]) -> Iterator[tuple[str, str, np.ndarray]]:
    nothing, every = frozenset[str](), max(values, key=len)
    for piece, share in shapley(values).items():
        yield piece, ALONE, values[frozenset({piece})] - values[nothing]
        yield piece, SHARE, share
        yield piece, LAST, values[every] - values[every - {piece}]
    yield ALL, SHARE, values[every] - values[nothing]


def tables(gains: pd.DataFrame) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield of each task of a frame of `ablation` its heading, the heads of its columns, and rows of as many cells."""
    for task, of_task in gains.groupby("task", sort=False):
        found = {(one["piece"], one["measure"], one["count"]): one for one in of_task.to_dict("records")}
        heads = [(measure, count) for measure in of_task["measure"].unique() for count in COUNTS]
        rows = []
        for piece, change in of_task[["piece", "change"]].drop_duplicates().itertuples(index=False):
            name = f"{piece}: {change}" if change else piece
            rows.append([name, *(_gain(found.get((piece, *head))) for head in heads)])
        yield (
            f"{task}, n = {of_task['n'].iloc[0]}",
            ["piece", *(f"{measure}: {count}" for measure, count in heads)],
            rows,
        )


def markdown(gains: pd.DataFrame) -> str:
    """Return a table a task of a frame of `ablation`."""
    lines = [f"# The pieces of {', '.join(gains['line'].unique())}", "", NOTE]
    for heading, heads, rows in tables(gains):
        lines += ["", f"## {heading}", "", *markdown_table(heads, rows)]
    return "\n".join(lines) + "\n"


def _gain(of: Mapping[Any, Any] | None) -> str:
    return "" if of is None else f"{of['gain']:+.1f} ± {of['gain_high'] - of['gain']:.1f}"
