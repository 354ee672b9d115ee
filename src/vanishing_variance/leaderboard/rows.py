"""The numbers of each row of the leaderboard, of one task.

Accuracies are in percent, a row a seed and a column a length.
"""

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.harness.errors import InputError
from vanishing_variance.leaderboard.files import HARD, TRAINED
from vanishing_variance.leaderboard.standings import standings
from vanishing_variance.results.accuracy import of_both
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.paired import difference

# Of those that were tested, the lengths whose accuracy the table shows.
SHOWN = (2**4, 2**8, 2**11, 2**14)
# Percent: `longest_90` is the longest length at which the accuracy is as high, there and at all shorter ones.
HIGH = 90.0
# States of a line.
FINE, AT_CHANCE, DIVERGED = "ok", "at chance", "diverged"

# Columns of the ranks, and of the difference from the baseline.
RANKS = ("rank", "rank_low", "rank_high")
GAIN = ("n_paired", "difference", "difference_low", "difference_high", "d_z", "p", "p_holm")

# A line and a rule, and the numbers of its row.
Key = tuple[str, str]
Numbers = dict[str, Any]


def by_seed(accuracy: pd.DataFrame) -> dict[Key, pd.DataFrame]:
    """Return the accuracies of each line and rule of one task, seeds and lengths increasing, from fractions.

    Raises InputError, which names the line, when one was not tested at the lengths of the others with every seed.
    """
    lengths = sorted(accuracy["length"].unique())
    found: dict[Key, pd.DataFrame] = {}
    for (line, rule), of in accuracy.groupby(["line", "rule"], sort=False):
        wide = of.pivot(index="seed", columns="length", values="accuracy") * 100
        if list(wide.columns) != lengths or wide.isna().to_numpy().any():
            raise InputError(
                f"leaderboard: {line}, {rule}: was not tested with every seed at the lengths of the others"
            )
        found[str(line), str(rule)] = wide
    return found


def numbers(
    percent: Mapping[Key, pd.DataFrame], attention: pd.DataFrame, baseline: str, longest: int, chance: float
) -> dict[Key, Numbers]:
    """Return the columns of `board` that are numbers, and `state`, by line and rule.

    `attention`: line, seed, length, target and variance, of this task; `longest`: the longest training length;
    `chance`: the percentage up to which a mean accuracy at the shortest length is not above chance.
    """
    if not all((of.columns.astype(int) > longest).any() for of in percent.values()):
        raise InputError(
            f"leaderboard: no test length is longer than the training lengths, {longest}; see test.lengths"
        )
    beyond = {key: of.loc[:, of.columns.astype(int) > longest].mean(axis=1) for key, of in percent.items()}
    gains, places = _gains(beyond, (baseline, TRAINED)), standings(beyond)
    found = {}
    for key, of in percent.items():
        means = of.mean().round(9)
        row: Numbers = dict(zip(RANKS, places[key], strict=True))
        row |= {"state": FINE if means.iloc[0] > chance else AT_CHANCE, "n": len(of)}
        row |= _mean("beyond", beyond[key]) | gains.get(key, {})
        for length in (length for length in SHOWN if length in of):
            row |= _mean(f"accuracy_{length}", of[length])
        high = means.index[(means >= HIGH).cummin()]
        row["longest_90"] = high[-1] if len(high) else None
        line, rule = key
        if rule == TRAINED:
            last = of.columns[-1]
            inside = attention[attention["line"] == line].pivot(index="seed", columns="length")
            row["target_weight"] = inside["target", last].mean()
            shrunk = inside["variance", last] / inside["variance", of.columns[0]]
            row["variance_ratio"] = stats.gmean(shrunk) if (shrunk > 0).all() else None
            row["hard"] = percent[line, HARD][last].mean() if (line, HARD) in percent else None
        found[key] = row
    return found


def _gains(beyond: Mapping[Key, "pd.Series[Any]"], baseline: Key) -> dict[Key, Numbers]:
    """Return each row's difference from the baseline's; none where the baseline has no numbers."""
    if baseline not in beyond:
        return {}
    found = {
        key: difference(*(of.to_numpy() for of in of_both(ours, beyond[baseline])))
        for key, ours in beyond.items()
        if key != baseline
    }
    adjusted = holm(np.array([of.p for of in found.values()]))
    return {
        key: dict(zip(GAIN, (*astuple(of), float(p)), strict=True))
        for (key, of), p in zip(found.items(), adjusted, strict=True)
    }


def _mean(name: str, values: "pd.Series[Any]") -> Numbers:
    mean, low, high = interval(values.to_numpy())
    ends = {f"{name}_low": low, f"{name}_high": high} if len(values) > 1 else {}
    return {name: mean, **ends}
