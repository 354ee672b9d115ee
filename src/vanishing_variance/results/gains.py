"""Three views of a gain: points beyond training, log-odds by length, and what is left at equal accuracy in training.

S seeds, L lengths.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.accuracy import of_both
from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.statistics.log_odds import log_odds
from vanishing_variance.statistics.paired import Difference, difference

Estimate = tuple[float, float, float]
# Of the names of an estimate and the ends of its interval.
ENDS = ("", "_low", "_high")
UNKNOWN: Estimate = (NAN, NAN, NAN)
# By the name of a view: its head in a table, and Python's format.
VIEWS = {
    "difference": ("beyond (pp)", "+.1f"),
    "log_odds": ("log-odds, shortest", "+.2f"),
    "log_odds_longest": ("log-odds, longest", "+.2f"),
    "slope": ("a doubling", "+.3f"),
    "adjusted": ("at equal accuracy (pp)", "+.1f"),
}
NOTE = (
    "Gains are paired by seed, with 95% intervals over n seeds. *Beyond*: accuracy, the mean over the lengths beyond "
    "training. *Log-odds*: their difference at the shortest test length, which is one of training, and at the longest; "
    "*a doubling*: what it grows by with each doubling of the length. *At equal accuracy*: the points beyond training "
    "that are left at equal log-odds at the shortest length, by analysis of covariance; it describes: that accuracy is "
    "an effect of the treatment, too, and as it is measured with error, too little is taken off."
)


def gain(
    ours: pd.DataFrame, theirs: pd.DataFrame, longest: int, sequences: int
) -> tuple[Difference, dict[str, Estimate]]:
    """Return the points that `ours` gains over `theirs` beyond the training lengths, and VIEWS of it with intervals.

    Accuracies are in percent, a row a seed, a column a length, increasing; over the seeds that both have. `longest`: of
    training; `sequences`: how many each accuracy is of. `log_odds`: the difference at the shortest length, within those
    of training, and `log_odds_longest`; `slope`: what it grows by with each doubling of the length. `adjusted`: the
    points that are left at equal log-odds at the shortest length (`statistics.adjusted`), which describes: the accuracy
    there is an effect of the treatment, too, and measured with error. Where there is no length of training, or fewer
    than two seeds, the points alone.
    """
    ours, theirs = of_both(ours, theirs)
    lengths = theirs.columns.to_numpy(dtype=float)
    beyond = theirs.columns[lengths > longest]
    treated = ours[beyond].mean(axis=1).to_numpy()
    untreated = theirs[beyond].mean(axis=1).to_numpy()
    points = difference(treated, untreated)
    views = dict.fromkeys(VIEWS, UNKNOWN) | {"difference": (points.mean, points.low, points.high)}
    if points.n < 2 or lengths[0] > longest:
        return points, views
    our_odds, their_odds = (log_odds(arm[theirs.columns].to_numpy() / 100, sequences) for arm in (ours, theirs))
    by_length = our_odds - their_odds
    views["log_odds"] = interval(by_length[:, 0])
    views["log_odds_longest"] = interval(by_length[:, -1])
    views["slope"] = interval(_slopes(by_length, lengths))
    views["adjusted"] = adjusted(treated, untreated, our_odds[:, 0], their_odds[:, 0])
    return points, views


def columns(name: str, values: Estimate) -> dict[str, float]:
    """Return an estimate by its name, and the ends of its interval as `<name>_low` and `<name>_high`."""
    return dict(zip((f"{name}{end}" for end in ENDS), values, strict=True))


def text(row: Mapping[Any, Any], name: str, how: str) -> str:
    """Return the estimate of this name in a row with `columns`, as `harness.numbers.estimate` has it."""
    return estimate(how, *(row[f"{name}{end}"] for end in ENDS))


def _slopes(values: Float[np.ndarray, "S L"], lengths: Float[np.ndarray, " L"]) -> Float[np.ndarray, " S"]:
    """Return the slope of each seed's line through its values, by doublings of the length."""
    doublings = np.log2(lengths) - np.log2(lengths).mean()
    slopes: np.ndarray = values @ doublings / (doublings @ doublings)
    return slopes
