"""What each piece of a treatment brings: its settings against the baseline's, in all combinations."""

from collections.abc import Iterator, Mapping
from itertools import combinations, product

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.numbers import power
from vanishing_variance.leaderboard.files import PLAIN
from vanishing_variance.leaderboard.scores import rounded_interval, seed_scores
from vanishing_variance.leaderboard.treatments import PATH, Treatment
from vanishing_variance.results.accuracy import rows
from vanishing_variance.statistics.shapley import shapley

Scores = Float[np.ndarray, " S"]
COLUMNS = ("line", "task", "measure", "piece", "change", "count", "n", "gain", "gain_low", "gain_high")
# How a piece's gain is counted: added to the baseline alone, over all orders, taken from the whole treatment.
ALONE, SHARE, LAST = ("alone", "share", "last")
BEYOND, ALL = "beyond training", "all"


def ablation(accuracy: pd.DataFrame, treatments: Mapping[str, Treatment], line: str, longest: int) -> pd.DataFrame:
    """Return the gain of each piece of `line` in percentage points, with its 95% t interval over n seeds: COLUMNS.

    `accuracy`: see `scores`; `longest`: the longest training length. `measure`: beyond training, or the longest test
    length; `piece`: a setting, or `all`; `count`: alone, share (the Shapley value) or last. A task of which a
    combination diverged is left out. Raises InputError as `combined_lines`.
    """
    lines = combined_lines(treatments, line)
    baseline, whole = next(iter(treatments.values())), treatments[line]
    trained = rows(accuracy, rule=PLAIN)
    last = trained["length"].max()
    measures = {BEYOND: trained[trained["length"] > longest], power(last): rows(trained, length=last)}
    table = []
    for task, measure in product(trained["task"].unique(), measures):
        measured = rows(measures[measure], task=task)
        scores = seed_scores(measured).droplevel("rule", axis=1)
        if not set(lines.values()) <= set(scores):
            continue
        values = {pieces: scores[name].to_numpy() for pieces, name in lines.items()}
        for piece, count, gain in _gains(values):
            change = "" if piece == ALL else f"{getattr(baseline, piece)} → {getattr(whole, piece)}"
            mean = rounded_interval(gain)
            table.append((line, task, measure, piece, change, count, len(gain), *mean))
    return pd.DataFrame(table, columns=COLUMNS)


def _gains(values: Mapping[frozenset[str], Scores]) -> Iterator[tuple[str, str, Scores]]:
    """Yield each piece, how it is counted, and its gain of each seed, given the scores of every set of pieces."""
    every = max(values, key=len)
    baseline, whole = values[frozenset()], values[every]
    for piece, share in shapley(values).items():
        yield piece, ALONE, values[frozenset({piece})] - baseline
        yield piece, SHARE, share
        yield piece, LAST, whole - values[every - {piece}]
    yield ALL, SHARE, whole - baseline


def combined_lines(treatments: Mapping[str, Treatment], line: str) -> dict[frozenset[str], str]:
    """Return the line of each set of pieces, the settings in which `line` differs from the first line, the baseline.

    Raises InputError, which names the settings, when a combination is no line.
    """
    baseline, whole = next(iter(treatments.values())), treatments[line]
    names = {treatment: name for name, treatment in treatments.items()}
    pieces = [piece for piece, setting in whole if setting != getattr(baseline, piece)]
    lines = {}
    for size in range(len(pieces) + 1):
        for subset in map(frozenset, combinations(pieces, size)):
            treatment = baseline.model_copy(update=whole.model_dump(include=set(subset)))
            if treatment not in names:
                settings = ", ".join(f"{piece}: {setting}" for piece, setting in treatment)
                raise InputError(f"{PATH}: ablation is {line}, which needs the line {{{settings}}}; there is none")
            lines[subset] = names[treatment]
    return lines
