"""What each piece of a treatment brings: its settings against the baseline's, in all combinations."""

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.core.errors import InputError
from vanishing_variance.leaderboard.files import TRAINED
from vanishing_variance.leaderboard.rows import by_seed
from vanishing_variance.leaderboard.treatments import PATH, Treatment
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.shapley import shapley
from vanishing_variance.study.markdown import power, row

# How a piece's gain is counted: added to the baseline alone, over all orders, taken from the whole treatment.
ALONE, SHARE, LAST = COUNTS = ("alone", "share", "last")
BEYOND = "beyond training"
COLUMNS = ("task", "measure", "piece", "count", "n", "gain", "gain_low", "gain_high")
NOTE = (
    "Percentage points that each piece of the treatment brings, lines as trained, with half of the 95% t interval over "
    "n seeds. Alone: added to the baseline. Share: its Shapley value, the mean over all orders in which the pieces can "
    "be added; the shares add up to the gain of the whole. Last: added to all others."
)

Cells = Mapping[frozenset[str], str]


def cells(treatments: Mapping[str, Treatment], line: str) -> dict[frozenset[str], str]:
    """Return the line of each set of pieces, the settings in which `line` differs from the baseline, the first line.

    Raises InputError, which names the settings, when a combination is no line.
    """
    baseline, whole = (treatments[name].model_dump() for name in (next(iter(treatments)), line))
    pieces = [name for name in whole if whole[name] != baseline[name]]
    lines = {tuple(of.model_dump().values()): name for name, of in reversed(list(treatments.items()))}
    found = {}
    for size in range(len(pieces) + 1):
        for some in combinations(pieces, size):
            settings = baseline | {name: whole[name] for name in some}
            if tuple(settings.values()) not in lines:
                text = ", ".join(f"{name}: {value}" for name, value in settings.items())
                raise InputError(f"{PATH}: ablation is {line}, which needs the line {{{text}}}; there is none")
            found[frozenset(some)] = lines[tuple(settings.values())]
    return found


def ablation(accuracy: pd.DataFrame, of_pieces: Cells, longest: int) -> pd.DataFrame:
    """Return the gains of each piece: task, measure, piece, count, n, gain, gain_low, gain_high (percentage points).

    `accuracy` as for `board`, over the seeds that all combinations have; a task of which one diverged is left out.
    `measure`: beyond training, or the longest test length; `piece`: also `all`, whose gain is that of the treatment;
    `count`: alone, share or last.
    """
    rows = []
    for task, of_task in accuracy.groupby("task", sort=False):
        percent = by_seed(of_task)
        frames = {some: percent[line, TRAINED] for some, line in of_pieces.items() if (line, TRAINED) in percent}
        if len(frames) < len(of_pieces):
            continue
        seeds = reduce(pd.Index.intersection, (frame.index for frame in frames.values()))
        lengths = np.array(percent[next(iter(percent))].columns, dtype=int)
        for measure, chosen in {BEYOND: lengths > longest, power(lengths[-1]): lengths == lengths[-1]}.items():
            values = {some: frame.loc[seeds, chosen].mean(axis=1).to_numpy() for some, frame in frames.items()}
            for piece, count, gain in _gains(values):
                mean, low, high = interval(gain)
                rows.append((task, measure, piece, count, len(gain), round(mean, 6), round(low, 6), round(high, 6)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _gains(values: Mapping[frozenset[str], np.ndarray]) -> Iterator[tuple[str, str, np.ndarray]]:
    nothing, every = frozenset[str](), max(values, key=len)
    for piece, share in shapley(values).items():
        yield piece, ALONE, values[frozenset({piece})] - values[nothing]
        yield piece, SHARE, share
        yield piece, LAST, values[every] - values[every - {piece}]
    yield "all", SHARE, values[every] - values[nothing]


def markdown(gains: pd.DataFrame, treatments: Mapping[str, Treatment], line: str) -> str:
    """Return a table a task of a frame of `ablation`."""
    baseline, whole = (treatments[name].model_dump() for name in (next(iter(treatments)), line))
    lines = [f"# The pieces of {line}", "", NOTE]
    for task, of_task in gains.groupby("task", sort=False):
        found = {(one["piece"], one["measure"], one["count"]): one for one in of_task.to_dict("records")}
        heads = [(measure, count) for measure in of_task["measure"].unique() for count in COUNTS]
        lines += ["", f"## {task}, n = {of_task['n'].iloc[0]}", ""]
        lines += [row(["piece", *(f"{measure}: {count}" for measure, count in heads)])]
        lines += [row(["---", *["--:"] * len(heads)])]
        for piece in of_task["piece"].unique():
            name = piece if piece == "all" else f"{piece}: {baseline[piece]} → {whole[piece]}"
            lines += [row([name, *(_gain(found.get((piece, *head))) for head in heads)])]
    return "\n".join(lines) + "\n"


def _gain(of: Mapping[Any, Any] | None) -> str:
    return "" if of is None else f"{of['gain']:+.1f} ± {of['gain_high'] - of['gain']:.1f}"
