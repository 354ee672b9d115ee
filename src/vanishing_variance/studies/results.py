"""The results of a run: a row a seed and length, with accuracies by rule and what is inside the model.

A file a run; and `kept.csv` of a study, with columns task and line, of seeds whose weights nobody has.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure.parts import PARTS
from vanishing_variance.results.columns import LOSS, MARGIN, NO_ANSWER, OUTPUTS, WEIGHTS, rounded, rows

KEYS = ["seed", "length"]
# What stands beside the accuracies, each a fraction in the column of its rule. `target`: the attention weight of the
# item with the answer, `variance`: of O before the normaliser, both as trained. There may be columns of `by_head`,
# `mechanism_of_tables` and `losses_by_rule`, and a `note`: what stopped a training; such a row has nothing else.
INSIDE = ["target", "variance"]
# What is measured of O both before and after the normaliser.
AFTER = ("variance", "feature_variance", "shift")


def results(
    frames: Mapping[str, pd.DataFrame], losses: pd.DataFrame | None = None, *, whole: bool = False
) -> pd.DataFrame:
    """Return a row a seed and length: accuracies by rule, `no_answer_<rule>` of the rules that have any, the inside.

    `frames`: of `measure.tested.answers`; `losses` of its `losses`; `whole`: as of `mechanism_of_tables`.
    """
    accuracy = frames["accuracy"]
    measured = []
    if "mechanism" in frames:
        measured.append((mechanism_of_tables if whole else mechanism_of_study)(frames["mechanism"]))
    elif "heads" in frames:
        measured.append(last_layer(frames["heads"]))
    if "heads" in frames:
        measured.append(by_head(frames["heads"]))
    if losses is not None:
        measured.append(losses_by_rule(losses))
    table = accuracy.pivot(index=KEYS, columns="rule", values="accuracy").reset_index()
    missing = accuracy.pivot(index=KEYS, columns="rule", values=NO_ANSWER)
    missing = missing.loc[:, missing.any()].add_prefix(f"{NO_ANSWER}_").round(6).reset_index()
    if whole and "parts" in frames:
        measured.append(parts_by_rule(frames["parts"]))
    for frame in (missing, *measured):
        keys = [name for name in KEYS if name in frame]
        table = table.merge(frame, "left" if keys == ["seed"] else "outer", keys)
    return table


def parts_by_rule(parts: pd.DataFrame) -> pd.DataFrame:
    """Return KEYS and `<part>_<rule>` of each of PARTS; with rule `hard` no answer is diluted, and it is left out."""
    by_rule = parts[parts["rule"] != "hard"].pivot(index=KEYS, columns="rule", values=list(PARTS))
    by_rule.columns = by_rule.columns.map("_".join)
    return by_rule.round(6).reset_index()


def mechanism_of_study(mechanism: pd.DataFrame) -> pd.DataFrame:
    """Return KEYS and INSIDE, of `evaluate_block`'s frame of the paper's network."""
    tested = rows(mechanism, sample="tested").rename(columns={"variance_before": "variance"})
    return rounded(tested[[*KEYS, *INSIDE]])


def mechanism_of_tables(mechanism: pd.DataFrame) -> pd.DataFrame:
    """Return KEYS, INSIDE and the rest that claims read, of the same frame; at the training lengths, length 0, of O.

    What is the same after the normaliser as before it, as where there is none, is left out after it.
    """
    require_finite(mechanism)
    margins = [name for name in map(str, mechanism) if name.startswith(MARGIN)]
    numbers = rounded(mechanism[[*WEIGHTS, *OUTPUTS, *margins]])
    numbers.loc[mechanism["length"] == 0, WEIGHTS] = float("nan")
    for name in AFTER:
        before, after = numbers[f"{name}_before"], numbers[f"{name}_after"]
        numbers[f"{name}_after"] = after.mask(after == before)
    return mechanism[KEYS].join(numbers).rename(columns={"variance_before": "variance"})


def require_finite(mechanism: pd.DataFrame) -> None:
    """Raise InputError where a number of O is not finite."""
    for name in OUTPUTS:
        wrong = mechanism[~np.isfinite(mechanism[name])]
        if len(wrong):
            seed, length, value = wrong[[*KEYS, name]].iloc[0]
            why = "as where O does not vary at all; try larger initial weights, or a larger training.learning_rate"
            if not np.isfinite(wrong["variance_before"].iloc[0]):
                why = "since O is no number; try a smaller training.learning_rate, or leave out `inside`"
            raise InputError(f"{name} is {value} (seed {seed:.0f}, length {length:.0f}), {why}")


def last_layer(inside: pd.DataFrame) -> pd.DataFrame:
    """Return seed, length, target and variance of the last layer of `plain_inside`, means over its heads."""
    last = inside[inside["layer"] == inside["layer"].max()]
    means: pd.DataFrame = last.groupby(KEYS)[INSIDE].mean()
    return rounded(means).reset_index()


def by_head(inside: pd.DataFrame) -> pd.DataFrame:
    """Return seed, length and for each layer and head, from 0, `target_<layer>_<head>`; `inside`: of `plain_inside`."""
    place = inside["layer"].astype(str) + "_" + inside["head"].astype(str)
    wide = inside.assign(place=place).pivot(index=KEYS, columns="place", values="target")
    return wide.add_prefix("target_").round(6).reset_index()


def losses_by_rule(losses: pd.DataFrame) -> pd.DataFrame:
    """Return seed and `loss_<rule>`; `losses`: seed, rule, loss."""
    wide = losses.pivot(index="seed", columns="rule", values="loss").add_prefix(f"{LOSS}_")
    return rounded(wide).reset_index()
