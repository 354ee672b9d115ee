"""What each piece of a treatment brings: its settings against the baseline's, in all combinations."""

from collections.abc import Mapping
from itertools import chain, combinations

import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.numbers import power
from vanishing_variance.leaderboard.files import TRAINED
from vanishing_variance.leaderboard.scores import rounded_interval, seed_scores
from vanishing_variance.leaderboard.treatments import PATH, Treatment
from vanishing_variance.statistics.shapley import shapley

COLUMNS = ("line", "task", "measure", "piece", "change", "count", "n", "gain", "gain_low", "gain_high")
# How a piece's gain is counted: added to the baseline alone, over all orders, taken from the whole treatment.
ALONE, SHARE, LAST = COUNTS = ("alone", "share", "last")
BEYOND, ALL = "beyond training", "all"


def ablation(accuracy: pd.DataFrame, treatments: Mapping[str, Treatment], line: str, longest: int) -> pd.DataFrame:
    """Return the gain of each piece of `line` in percentage points, with its 95% t interval over n seeds: COLUMNS.

    `accuracy`: see `scores`; `longest`: the longest training length. `measure`: beyond training, or the longest test
    length; `piece`: a setting, or `all`; `count`: alone, share (the Shapley value) or last. A task of which a
    combination diverged is left out. Raises InputError as `combined_lines`.
    """
    lines = combined_lines(treatments, line)
    baseline, whole = next(iter(treatments.values())), treatments[line]
    accuracy = accuracy[accuracy["rule"] == TRAINED]
    last = accuracy["length"].max()
    measures = {BEYOND: accuracy[accuracy["length"] > longest], power(last): accuracy[accuracy["length"] == last]}
    rows: list[tuple[object, ...]] = []
    for task in accuracy["task"].unique():
        for measure, measured in measures.items():
            scores = seed_scores(measured[measured["task"] == task])
            if not {(name, TRAINED) for name in lines.values()} <= set(scores.columns):
                continue
            values = {pieces: scores[name, TRAINED].to_numpy() for pieces, name in lines.items()}
            nothing, every = frozenset[str](), max(values, key=len)
            for piece, share in shapley(values).items():
                change = f"{getattr(baseline, piece)} → {getattr(whole, piece)}"
                alone = values[frozenset({piece})] - values[nothing]
                final = values[every] - values[every - {piece}]
                for count, gain in ((ALONE, alone), (SHARE, share), (LAST, final)):
                    rows.append((line, task, measure, piece, change, count, len(gain), *rounded_interval(gain)))
            gain = values[every] - values[nothing]
            rows.append((line, task, measure, ALL, "", SHARE, len(gain), *rounded_interval(gain)))
    return pd.DataFrame(rows, columns=COLUMNS)


def combined_lines(treatments: Mapping[str, Treatment], line: str) -> dict[frozenset[str], str]:
    """Return the line of each set of pieces, the settings in which `line` differs from the first line, the baseline.

    Raises InputError, which names the settings, when a combination is no line.
    """
    baseline, whole = next(iter(treatments.values())), treatments[line]
    pieces = [name for name, value in whole if value != getattr(baseline, name)]
    subsets = chain.from_iterable(combinations(pieces, size) for size in range(len(pieces) + 1))
    lines = {}
    for subset in subsets:
        treatment = baseline.model_copy(update={name: getattr(whole, name) for name in subset})
        names = [name for name, other in treatments.items() if other == treatment]
        if not names:
            settings = ", ".join(f"{name}: {value}" for name, value in treatment)
            raise InputError(f"{PATH}: ablation is {line}, which needs the line {{{settings}}}; there is none")
        lines[frozenset(subset)] = names[0]
    return lines
