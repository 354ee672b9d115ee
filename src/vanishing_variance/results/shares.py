"""The shares of the lost accuracy that interventions recover or reproduce, from accuracies by seed.

S seeds, L lengths. Accuracies are fractions in the raw frame, percentage points in the result.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.harness.columns import CSV
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
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.statistics.ratio import Ratio, ratio
from vanishing_variance.statistics.shapley import shapley

# Percentage points: of a smaller fall no share is given.
SMALLEST_FALL = 1.0
# The scope of shares of all test lengths beyond training together: of the mean accuracy over them.
BEYOND = "beyond training"

Values = Float[np.ndarray, " S"]
# An intervention, and where it acts.
Place = tuple[str, str]
TRAINED = ("trained", NOTHING)


def shares(accuracy: pd.DataFrame, longest: Mapping[str, int]) -> pd.DataFrame:
    """Return a row a task, range, norm, kind, intervention, place and length, or all lengths `beyond training`.

    `accuracy`: as in runs/interventions, whose length 0 is the training lengths; `longest`: the longest training
    length by range. Columns: `kind`, `recovered` ((intervened - base) / fall), `damage` ((training-length accuracy -
    intervened) / fall) or `Shapley` (`part` of what restoring weight and moments both gives / fall); `scope`, `length`
    or `beyond training`, which has no length; `n` seeds; `change`, the share's numerator, and `fall`, its denominator,
    the training-length accuracy minus the base's, means over seeds in percentage points with 95% t intervals
    (`…_low`, `…_high`); `share` with its 95% interval by Fieller's theorem; `note`, why one is missing.
    """
    rows: list[dict[str, Any]] = []
    for (task, range_, norm), of in accuracy.groupby(["task", "range", "norm"], sort=False):
        names = {"task": task, "range": range_, "norm": norm}
        for scope, length, values in _scopes(of, longest[str(range_)]):
            base, trained = values[BASE, NOTHING], values[TRAINED]
            for kind, intervention, where, change in _changes(values):
                about = {"kind": kind, "intervention": intervention, "where": where, "scope": scope, "length": length}
                rows.append(names | about | _share(change, trained - base))
    return pd.DataFrame(rows).round(6)[[*CSV["shares"]]]


def _scopes(of: pd.DataFrame, longest: int) -> Iterator[tuple[str, float, Mapping[Place, Values]]]:
    """Yield scope, length and percentages by intervention and place; the seeds are in increasing order."""
    wide = 100 * of.pivot_table(index=["intervention", "where", "seed"], columns="length", values="accuracy")
    tested = [int(length) for length in wide.columns if length]
    trained = {TRAINED: _by_place(wide[[0]])[BASE, NOTHING]}
    if beyond := [length for length in tested if length > longest]:
        yield BEYOND, float("nan"), _by_place(wide[beyond]) | trained
    for length in tested:
        yield "length", length, _by_place(wide[[length]]) | trained


def _by_place(wide: pd.DataFrame) -> dict[Place, Values]:
    by_place = wide.mean(axis=1).reset_index(name="mean").groupby(["intervention", "where"], sort=False)
    return {(str(name), str(where)): of["mean"].to_numpy() for (name, where), of in by_place}


def _changes(values: Mapping[Place, Values]) -> Iterator[tuple[str, str, str, Values]]:
    """Yield kind, intervention, place and each seed's change of accuracy."""
    base, trained = values[BASE, NOTHING], values[TRAINED]
    for (name, where), of in values.items():
        if name in RECOVERING:
            yield "recovered", name, where, of - base
        if name in DAMAGING:
            yield "damage", name, where, trained - of
    for form in FORMS:
        for where in PLACES:
            weight, moments, together = (values[name(form), where] for name in (kept_long, restored, both))
            for part, change in _split(base, {"target weight": weight, "moments": moments}, together).items():
                yield "Shapley", f"{part} ({form} moments)", where, change


def _share(change: Values, fall: Values) -> dict[str, Any]:
    lost = fall.mean()
    found = ratio(change, fall)
    if lost < SMALLEST_FALL:
        found = Ratio(NAN, note=f"accuracy falls by {lost:.2g} points, less than {SMALLEST_FALL:g}: no share")
    elif np.isnan(found.value):
        found = Ratio(NAN, note=f"the fall of {lost:.2g} points may be 0: no share")
    measured = {"change": interval(change), "fall": interval(fall), "share": (found.value, found.low, found.high)}
    row: dict[str, Any] = {"n": len(change), "note": found.note}
    for name, (value, low, high) in measured.items():
        ends = (low, high) if len(change) > 1 else (NAN, NAN)
        row |= {name: value, f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return row


def gain(accuracy: pd.DataFrame, task: str, range_: str, treatment: str, longest: int) -> dict[str, Values]:
    """Return each seed's gain of a treatment over `none` beyond training, in percentage points, split in two.

    `gain`: treatment minus none; `attention`: what of it the target weights bring, and `read-out`: what everything else
    brings, the layers above and what the other items contribute: Shapley values of weights and model, where each model
    answers the same sequences with the other's target weights too. Empty where a variant or a length is missing.
    """
    of = accuracy.query("task == @task and range == @range_ and length > @longest")
    table = 100 * of.pivot_table(index="seed", columns=["norm", "intervention", "where"], values="accuracy")
    wanted = [(norm, *place) for norm in ("none", treatment) for place in ((BASE, NOTHING), (OTHER, ATTENTION))]
    if not set(wanted) <= set(table):
        return {}
    none, none_other, ours, ours_other = table[wanted].dropna().to_numpy().T
    return {"gain": ours - none} | _split(none, {"attention": none_other, "read-out": ours_other}, ours)


def _split(nothing: Values, alone: Mapping[str, Values], together: Values) -> dict[str, Values]:
    """Return the Shapley values of two pieces, from what each gives `alone`."""
    one, other = alone
    values = {frozenset[str](): nothing, frozenset(alone): together}
    found = shapley(values | {frozenset({piece}): of for piece, of in alone.items()})
    return {one: found[one], other: found[other]}
