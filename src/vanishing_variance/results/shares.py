"""Shares of the lost accuracy that interventions recover or reproduce, from accuracies by seed, and as a table.

S seeds, L lengths. Accuracies are fractions in the raw frame, percentage points in the result.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.harness.numbers import MISSING, table
from vanishing_variance.measure.interventions import names
from vanishing_variance.results.columns import rows
from vanishing_variance.results.comparison import columns, texts
from vanishing_variance.results.runs import line_of, norm_of, range_of
from vanishing_variance.statistics.intervals import NAN, interval, mean_estimate
from vanishing_variance.statistics.ratio import ratio

# Percentage points: of a smaller fall no share is given.
SMALLEST_FALL = 1.0
COLUMNS = [
    *("task", "line", "kind", "intervention", "where", "length", "n"),
    *("fall", "fall_low", "fall_high", "share", "share_low", "share_high", "note"),
]

KEYS = ["task", "line", "intervention", "where", "seed"]

Values = Float[np.ndarray, " S"]
Some = TypeVar("Some", Values, pd.Series)

NOTE = (
    "Mean accuracy over all test lengths beyond training, as trained; what is set acts on the attention weights, or "
    "on O before the normaliser. Recovered: (intervened − base) / fall, on long sequences; damage: (training-length "
    "accuracy − intervened) / fall, on sequences of the training lengths; the fall is training-length accuracy − base. "
    "Shapley: what both restored bring, split between the target's weight and the moments; by these compare causes: "
    "what the weight alone recovers is also O's, which it restores. In percent of the fall, with 95% intervals over "
    "seeds (Fieller); – where the fall is below a point or may be 0."
)


def shares(accuracy: pd.DataFrame, longest: Mapping[str, int]) -> pd.DataFrame:
    """Return a row a task, line, kind, intervention, place and length, or of all lengths beyond training.

    `accuracy`: of `measurement.intervene`, whose length 0 is the training lengths; `longest`: the longest training
    length by line. COLUMNS: `kind`, `recovered` ((intervened - base) / fall), `damage` ((training-length accuracy -
    intervened) / fall) or `Shapley` (`part` of what restoring weight and moments both gives / fall); `length`, none
    where it is the mean accuracy over all beyond training; `n` seeds; `fall`, the training-length accuracy minus the
    base's, its mean over seeds in percentage points with its 95% t interval (`…_low`, `…_high`); `share` with its 95%
    interval by Fieller's theorem; `note`, why one is missing.
    """
    found: list[dict[str, Any]] = []
    for (task, line), of_line in accuracy.groupby(["task", "line"]):
        about = {"task": task, "line": line}
        percent = 100 * of_line.pivot_table("accuracy", ["length", "seed"], ["intervention", "where"])
        trained = percent.loc[0][names.BASE, names.NOTHING]
        tested = percent.drop(0)
        by_length = dict(iter(tested.groupby("length")))
        beyond = tested[tested.index.get_level_values("length") > longest[str(line)]]
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
    share, note = ratio(change, fall), ""
    if mean < SMALLEST_FALL:
        share, note = (NAN, NAN, NAN), f"accuracy falls by {mean:.2g} points, less than {SMALLEST_FALL:g}: no share"
    elif np.isnan(share[0]):
        note = f"the fall of {mean:.2g} points may be 0: no share"
    elif len(change) == 1:
        note = "one seed: no interval"
    return {"n": len(change), **columns("fall", (mean, low, high)), **columns("share", share), "note": note}


def gain(accuracy: pd.DataFrame, task: str, line: str, longest: int) -> dict[str, Values]:
    """Return each seed's gain of a line over `none` beyond training, in percentage points, split in two.

    `gain`: the line minus none; `attention`: what of it the target weights bring, and `read-out`: what everything else
    brings, the layers above and what the other items contribute: Shapley values of weights and model, where each model
    answers the same sequences with the other's target weights too. Empty where a line or a length is missing.
    """
    untreated = line_of("none", range_of(line))
    beyond = rows(accuracy[accuracy["length"] > longest], task=task)
    by_place = 100 * beyond.pivot_table(index="seed", columns=["line", "intervention", "where"], values="accuracy")
    places = [(names.BASE, names.NOTHING), (names.OTHER, names.ATTENTION)]
    wanted = [(name, *place) for name in (untreated, line) for place in places]
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


def markdown(shares: pd.DataFrame, gains: Mapping[tuple[str, str], Mapping[str, Values]]) -> str:
    """Return the shares beyond training, and `gains` of `gain` by task and line, as Markdown."""
    beyond = shares[shares["length"].isna()]
    parts = ["# Interventions: one thing is set, the rest is left", NOTE]
    for (task, range_), models in beyond.groupby(["task", shares["line"].map(range_of)], sort=False):
        none = line_of("none", str(range_))
        parts += [f"**{task}, trained on the {range_} range**", _shares_of_lines(models, none)]
    parts.append("**Gain over none (points): what the target's weights bring of it, and what the rest does**")
    parts.append(_split_gains(gains))
    notes = []
    noted = beyond[beyond["note"] != ""].drop_duplicates(["task", "line", "note"])
    for task, line, note in noted[["task", "line", "note"]].to_numpy():
        notes.append(f"- {task} {range_of(line)} {norm_of(line)}: {note}.")
    return "\n\n".join([*parts, "\n".join(notes)]).rstrip() + "\n"


def _split_gains(gains: Mapping[tuple[str, str], Mapping[str, Values]]) -> str:
    """Return the means of gains, and of both pieces of each, as a table."""
    cells = []
    for (task, line), pieces in gains.items():
        means = [mean_estimate(values, "+.1f") for values in pieces.values()]
        cells.append([f"{task}, {range_of(line)}, {norm_of(line)}", *means])
    return table(["", "gain", "attention", "read-out"], cells)


def _shares_of_lines(models: pd.DataFrame, none: str) -> str:
    """Return the falls and shares of the lines of a task and range as a table, a column a line, first `none`."""
    falls = models.drop_duplicates("line").assign(kind="fall (points)", intervention="", where="")
    falls["cell"] = texts(falls, "fall", "z.1f")
    cells = pd.concat([falls, models.assign(cell=texts(models, "share", "z.0f", 100))])
    wide = cells.pivot_table("cell", ["kind", "intervention", "where"], "line", aggfunc="first", sort=False)
    lines = sorted(wide.columns, key=lambda line: (line != none, line))
    body = wide[lines].fillna(MISSING).reset_index().to_numpy()
    return table(["", "", "where", *map(norm_of, lines)], body, texts=3)
