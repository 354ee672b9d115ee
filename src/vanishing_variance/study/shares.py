"""The shares of the lost accuracy that interventions recover or reproduce, from accuracies by seed.

S seeds, L lengths. Accuracies are fractions in the raw frame, percentage points in the result.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.ratio import ratio
from vanishing_variance.study.columns import SHARES
from vanishing_variance.study.interventions import (
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
    table = pd.DataFrame(rows)
    return table.assign(**{name: pd.to_numeric(table[name]).round(6) for name in ("length", *SHARES)})


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
    index = pd.MultiIndex.from_frame(wide.index.to_frame()[["intervention", "where"]])
    means, found = wide.mean(axis=1).to_numpy(), {}
    for name, where in index.unique():
        found[str(name), str(where)] = means[index == (name, where)]
    return found


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
            for part, (own, other) in {"target weight": (weight, moments), "moments": (moments, weight)}.items():
                change = ((own - base) + (together - other)) / 2
                yield "Shapley", f"{part} ({form} moments)", where, change


def _share(change: Values, fall: Values) -> dict[str, Any]:
    (mean, low, high), (lost, lost_low, lost_high) = interval(change), interval(fall)
    numbers: dict[str, Any] = {"n": len(change), "change": mean, "change_low": low, "change_high": high}
    numbers |= {"fall": lost, "fall_low": lost_low, "fall_high": lost_high}
    if len(change) == 1:
        numbers = {name: None if name.endswith(("low", "high")) else value for name, value in numbers.items()}
    if lost < SMALLEST_FALL:
        small = f"accuracy falls by {lost:.2g} points, less than {SMALLEST_FALL:g}: no share"
        return {**numbers, "share": None, "share_low": None, "share_high": None, "note": small}
    found = ratio(change, fall)
    note = found.note if found.value is not None else f"the fall of {lost:.2g} points may be 0: no share"
    return {**numbers, "share": found.value, "share_low": found.low, "share_high": found.high, "note": note}


def gain(accuracy: pd.DataFrame, task: str, range_: str, treatment: str, longest: int) -> dict[str, Values]:
    """Return each seed's gain of a treatment over `none` beyond training, in percentage points, split in two.

    `gain`: treatment minus none; `attention`: what of it the target weights bring, and `read-out`: what everything else
    brings, the layers above and what the other items contribute: Shapley values of weights and model, where each model
    answers the same sequences with the other's target weights too. Empty where a variant or a length is missing.
    """
    of = accuracy.query("task == @task and range == @range_ and length > @longest")
    means = of.groupby(["norm", "intervention", "where", "seed"])["accuracy"].mean() * 100
    keys = {(norm, name): (norm, name, where) for norm in ("none", treatment) for name, where in _CROSSED}
    there = means.groupby(level=[0, 1, 2]).size().index
    if not set(keys.values()) <= set(there):
        return {}
    table = pd.concat({name: means.loc[key] for name, key in keys.items()}, axis=1, join="inner").dropna()
    (none, none_other), (ours, ours_other) = (
        [table[norm, name].to_numpy() for name, _ in _CROSSED] for norm in ("none", treatment)
    )
    attention = ((none_other - none) + (ours - ours_other)) / 2
    read_out = ((ours_other - none) + (ours - none_other)) / 2
    return {"gain": ours - none, "attention": attention, "read-out": read_out}


_CROSSED = ((BASE, NOTHING), (OTHER, ATTENTION))
