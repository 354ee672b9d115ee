"""Shares of the lost accuracy that interventions recover or reproduce, from accuracies by seed.

S seeds, L lengths. Accuracies are fractions in the raw frame, percentage points in the result.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.measure.interventions.names import (
    ATTENTION,
    BASE,
    DAMAGING,
    FORMS,
    NOTHING,
    OTHER,
    PLACES,
    RECOVERING,
    both,
    kept_long,
    restored,
)
from vanishing_variance.results.accuracy import rows
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.statistics.ratio import Ratio, ratio

# Percentage points: of a smaller fall no share is given.
SMALLEST_FALL = 1.0
COLUMNS = [
    *("task", "range", "norm", "kind", "intervention", "where", "length", "n"),
    *("fall", "fall_low", "fall_high", "share", "share_low", "share_high", "note"),
]

Values = Float[np.ndarray, " S"]
# An intervention, and where it acts.
Place = tuple[str, str]
# Of sequences of the training lengths, in which nothing is set.
TRAINED = ("trained", NOTHING)


def shares(accuracy: pd.DataFrame, longest: Mapping[str, int]) -> pd.DataFrame:
    """Return a row a task, range, norm, kind, intervention, place and length, or of all lengths beyond training.

    `accuracy`: as in runs/interventions, whose length 0 is the training lengths; `longest`: the longest training
    length by range. COLUMNS: `kind`, `recovered` ((intervened - base) / fall), `damage` ((training-length accuracy -
    intervened) / fall) or `Shapley` (`part` of what restoring weight and moments both gives / fall); `length`, none
    where it is the mean accuracy over all beyond training; `n` seeds; `fall`, the training-length accuracy minus the
    base's, its mean over seeds in percentage points with its 95% t interval (`…_low`, `…_high`); `share` with its 95%
    interval by Fieller's theorem; `note`, why one is missing.
    """
    found: list[dict[str, Any]] = []
    for (task, range_, norm), variant in accuracy.groupby(["task", "range", "norm"], sort=False):
        for length, values in _by_length(variant, longest[str(range_)]):
            fall = values[TRAINED] - values[BASE, NOTHING]
            for kind, intervention, where, change in _changes(values):
                names = {"task": task, "range": range_, "norm": norm}
                names |= {"kind": kind, "intervention": intervention, "where": where}
                found.append({**names, "length": length, **_share(change, fall)})
    return pd.DataFrame(found).round(6)[COLUMNS]


def _by_length(variant: pd.DataFrame, longest: int) -> Iterator[tuple[float, Mapping[Place, Values]]]:
    """Yield percentages by intervention and place beyond training (length NaN), and at every length.

    The seeds are in increasing order.
    """
    wide = 100 * variant.pivot_table(index=["intervention", "where", "seed"], columns="length", values="accuracy")
    trained = {TRAINED: _by_place(wide[[0]])[BASE, NOTHING]}
    tested = [int(length) for length in wide.columns if length]
    beyond = [length for length in tested if length > longest]
    if beyond:
        yield NAN, _by_place(wide[beyond]) | trained
    for length in tested:
        yield length, _by_place(wide[[length]]) | trained


def _by_place(wide: pd.DataFrame) -> dict[Place, Values]:
    """Return the means over the columns, by intervention and place."""
    means = wide.mean(axis=1).groupby(["intervention", "where"], sort=False)
    return {(str(name), str(where)): values.to_numpy() for (name, where), values in means}


def _changes(values: Mapping[Place, Values]) -> Iterator[tuple[str, str, str, Values]]:
    """Yield kind, intervention, place and each seed's change of accuracy."""
    base, trained = values[BASE, NOTHING], values[TRAINED]
    for (name, where), intervened in values.items():
        if name in RECOVERING:
            yield "recovered", name, where, intervened - base
        if name in DAMAGING:
            yield "damage", name, where, trained - intervened
    for form in FORMS:
        for where in PLACES:
            alone = {"target weight": values[kept_long(form), where], "moments": values[restored(form), where]}
            for part, change in _split(base, alone, values[both(form), where]).items():
                yield "Shapley", f"{part} ({form} moments)", where, change


def _share(change: Values, fall: Values) -> dict[str, Any]:
    """Return a change as a share of the fall, and both ends of its interval."""
    mean, low, high = interval(fall)
    share = ratio(change, fall)
    if mean < SMALLEST_FALL:
        share = Ratio(NAN, note=f"accuracy falls by {mean:.2g} points, less than {SMALLEST_FALL:g}: no share")
    elif np.isnan(share.value):
        share = Ratio(NAN, note=f"the fall of {mean:.2g} points may be 0: no share")
    if len(fall) == 1:
        low = high = NAN
    return {
        **{"n": len(change), "fall": mean, "fall_low": low, "fall_high": high},
        **{"share": share.value, "share_low": share.low, "share_high": share.high, "note": share.note},
    }


def gain(accuracy: pd.DataFrame, task: str, range_: str, treatment: str, longest: int) -> dict[str, Values]:
    """Return each seed's gain of a treatment over `none` beyond training, in percentage points, split in two.

    `gain`: treatment minus none; `attention`: what of it the target weights bring, and `read-out`: what everything else
    brings, the layers above and what the other items contribute: Shapley values of weights and model, where each model
    answers the same sequences with the other's target weights too. Empty where a variant or a length is missing.
    """
    beyond = rows(accuracy[accuracy["length"] > longest], task=task, range_=range_)
    by_place = 100 * beyond.pivot_table(index="seed", columns=["norm", "intervention", "where"], values="accuracy")
    places = [(BASE, NOTHING), (OTHER, ATTENTION)]
    wanted = [(norm, *place) for norm in ("none", treatment) for place in places]
    if not set(wanted) <= set(by_place):
        return {}
    none, none_other, ours, ours_other = by_place[wanted].dropna().to_numpy().T
    return {"gain": ours - none} | _split(none, {"attention": none_other, "read-out": ours_other}, ours)


def _split(nothing: Values, alone: Mapping[str, Values], together: Values) -> dict[str, Values]:
    """Return the Shapley values of two pieces, of which each gives `alone` so much: the mean over both orders."""
    (first, of_first), (second, of_second) = alone.items()
    return {
        first: ((of_first - nothing) + (together - of_second)) / 2,
        second: ((of_second - nothing) + (together - of_first)) / 2,
    }
