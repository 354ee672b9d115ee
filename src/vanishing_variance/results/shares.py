"""Shares of the lost accuracy that interventions recover or reproduce, from accuracies by seed.

S seeds, L lengths. Accuracies are fractions in the raw frame, percentage points in the result.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.measure.interventions import names
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.compare.gains import columns
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.statistics.ratio import Ratio, ratio

# Percentage points: of a smaller fall no share is given.
SMALLEST_FALL = 1.0
COLUMNS = [
    *("task", "range", "norm", "kind", "intervention", "where", "length", "n"),
    *("fall", "fall_low", "fall_high", "share", "share_low", "share_high", "note"),
]

KEYS = ["task", "range", "norm", "intervention", "where", "seed"]

Values = Float[np.ndarray, " S"]
Some = TypeVar("Some", Values, pd.Series)


def shares(accuracy: pd.DataFrame, longest: Mapping[str, int]) -> pd.DataFrame:
    """Return a row a task, range, norm, kind, intervention, place and length, or of all lengths beyond training.

    `accuracy`: of `measurement.intervene`, whose length 0 is the training lengths; `longest`: the longest training
    length by range. COLUMNS: `kind`, `recovered` ((intervened - base) / fall), `damage` ((training-length accuracy -
    intervened) / fall) or `Shapley` (`part` of what restoring weight and moments both gives / fall); `length`, none
    where it is the mean accuracy over all beyond training; `n` seeds; `fall`, the training-length accuracy minus the
    base's, its mean over seeds in percentage points with its 95% t interval (`…_low`, `…_high`); `share` with its 95%
    interval by Fieller's theorem; `note`, why one is missing.
    """
    found: list[dict[str, Any]] = []
    for (task, range_, norm), variant in accuracy.groupby(["task", "range", "norm"]):
        about = {"task": task, "range": range_, "norm": norm}
        percent = 100 * variant.pivot_table("accuracy", ["length", "seed"], ["intervention", "where"])
        trained = percent.loc[0][names.BASE, names.NOTHING]
        tested = percent.drop(0)
        by_length = dict(iter(tested.groupby("length")))
        beyond = tested[tested.index.get_level_values("length") > longest[str(range_)]]
        if len(beyond):
            by_length = {NAN: beyond} | by_length
        for length, values in by_length.items():
            means = values.groupby("seed").mean()
            fall = trained - means[names.BASE, names.NOTHING]
            for (kind, intervention, where), change in _changes(means, trained).items():
                place = {"kind": kind, "intervention": intervention, "where": where, "length": length}
                found.append(about | place | _share(change.to_numpy(), fall.to_numpy()))
    return pd.DataFrame(found, columns=COLUMNS).round(6)


def _changes(means: pd.DataFrame, trained: pd.Series) -> dict[tuple[str, str, str], pd.Series]:
    """Return each seed's change of accuracy by kind, intervention and place."""
    changes = {}
    base = means[names.BASE, names.NOTHING]
    for name, where in means.columns.to_frame().to_numpy():
        if name in names.RECOVERING:
            changes["recovered", name, where] = means[name, where] - base
        if name in names.DAMAGING:
            changes["damage", name, where] = trained - means[name, where]
    for form in names.FORMS:
        if names.both(form) not in means:  # of a task without a target
            continue
        of_each = (means[name(form), names.BEFORE] for name in (names.kept_long, names.restored, names.both))
        weight, moments = _split(base, *of_each)
        changes["Shapley", f"target weight ({form} moments)", names.BEFORE] = weight
        changes["Shapley", f"moments ({form} moments)", names.BEFORE] = moments
    return changes


def _share(change: Values, fall: Values) -> dict[str, Any]:
    """Return a change as a share of the fall, and both ends of its interval."""
    mean, low, high = interval(fall)
    share = ratio(change, fall)
    if mean < SMALLEST_FALL:
        share = Ratio(NAN, note=f"accuracy falls by {mean:.2g} points, less than {SMALLEST_FALL:g}: no share")
    elif np.isnan(share.value):
        share = Ratio(NAN, note=f"the fall of {mean:.2g} points may be 0: no share")
    of_fall = columns("fall", (mean, low, high))
    of_share = columns("share", (share.value, share.low, share.high))
    return {"n": len(change), **of_fall, **of_share, "note": share.note}


def gain(accuracy: pd.DataFrame, task: str, range_: str, treatment: str, longest: int) -> dict[str, Values]:
    """Return each seed's gain of a treatment over `none` beyond training, in percentage points, split in two.

    `gain`: treatment minus none; `attention`: what of it the target weights bring, and `read-out`: what everything else
    brings, the layers above and what the other items contribute: Shapley values of weights and model, where each model
    answers the same sequences with the other's target weights too. Empty where a variant or a length is missing.
    """
    beyond = rows(accuracy[accuracy["length"] > longest], task=task, range_=range_)
    by_place = 100 * beyond.pivot_table(index="seed", columns=["norm", "intervention", "where"], values="accuracy")
    places = [(names.BASE, names.NOTHING), (names.OTHER, names.ATTENTION)]
    wanted = [(norm, *place) for norm in ("none", treatment) for place in places]
    if not set(wanted) <= set(by_place):
        return {}
    none, none_other, ours, ours_other = by_place[wanted].dropna().to_numpy().T
    attention, read_out = _split(none, none_other, ours_other, ours)
    return {"gain": ours - none, "attention": attention, "read-out": read_out}


def _split(nothing: Some, first: Some, second: Some, together: Some) -> tuple[Some, Some]:
    """Return the Shapley values of two pieces, the mean over both orders, from the accuracy with each and with both."""
    of_first = ((first - nothing) + (together - second)) / 2
    of_second = ((second - nothing) + (together - first)) / 2
    return of_first, of_second
