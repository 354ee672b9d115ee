import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from vanishing_variance.measure.interventions import names
from vanishing_variance.results.columns import rows
from vanishing_variance.results.files import recovery
from vanishing_variance.results.shares import gain, shares

OF_MOMENTS = (names.restored, names.kept_long, names.both, names.damaged)
LONGEST = {"none": 16, "std": 16, "ln": 16}
MOMENTS = {name(form) for form in names.FORMS for name in OF_MOMENTS}


def accuracies(seeds=4, **values):
    """0.9 at the training lengths; base 0.9, 0.5 and 0.3 at 8, 64 and 512; every intervention 0.5 unless named."""
    cells = []
    for line in ("ln", "none"):
        for seed in range(seeds):
            cells.append((line, seed, 0, names.BASE, names.NOTHING, 0.9 + seed / 1000))
            for length, base in ((8, 0.9), (64, 0.5), (512, 0.3)):
                cells.append((line, seed, length, names.BASE, names.NOTHING, base + seed / 500))
                for name in (*names.RECOVERING, *names.DAMAGING):
                    where = names.BEFORE if name in MOMENTS else names.ATTENTION
                    cells.append((line, seed, length, name, where, values.get(name, 0.5) + seed / 500))
    frame = pd.DataFrame(cells, columns=["line", "seed", "length", "intervention", "where", "accuracy"])
    return frame.assign(task="argmax")


def one(table, kind, name, where, length=None):
    at = table[table["length"].isna() if length is None else table["length"] == length]
    [row] = rows(at, kind=kind, intervention=name, where=where, line="none").to_dict("records")
    return row


def change(row):
    """The numerator of a share, in points."""
    return pytest.approx(row["share"] * row["fall"], abs=1e-3)


def test_shares_are_of_the_fall_between_the_same_seeds():
    frame = accuracies(**{names.TARGET: 0.7, names.damaged("global"): 0.8}).sample(frac=1, random_state=0)
    table = shares(frame, LONGEST)
    row = one(table, "recovered", names.TARGET, "attention", 512)
    assert row["share"] == pytest.approx(0.4 / 0.5985, abs=1e-6)
    assert row["share_low"] < row["share"] < row["share_high"]
    assert (row["fall"], row["n"]) == (pytest.approx(59.85), 4)
    row = one(table, "damage", names.damaged("global"), "before", 64)
    assert row["share"] == pytest.approx(0.0985 / 0.3985, abs=1e-6)
    assert change(one(table, "recovered", names.TARGET, "attention")) == (20 + 40) / 2
    longer = shares(frame, dict.fromkeys(LONGEST, 64))  # a length of training is not beyond it
    assert change(one(longer, "recovered", names.TARGET, "attention")) == 40


def test_shapley_shares_add_up_to_what_both_bring():
    """Base 0.3: the weight brings 30 or 55 points, the moments 5 or 30."""
    values = {names.restored("global"): 0.35, names.kept_long("global"): 0.6, names.both("global"): 0.9}
    table = shares(accuracies(**values), LONGEST)
    weight, moments = (
        one(table, "Shapley", f"{part} (global moments)", "before", 512) for part in ("target weight", "moments")
    )
    assert (change(weight), change(moments)) == (42.5, 17.5)


def test_the_gain_is_split_by_each_model_with_the_others_weights():
    frame = accuracies()
    frame.loc[frame["line"] == "ln", "accuracy"] += 0.1
    frame.loc[(frame["line"] == "none") & (frame["intervention"] == names.OTHER), "accuracy"] = 0.42
    parts = gain(frame, "argmax", "ln", 16)
    assert parts["gain"] == pytest.approx(np.full(4, 10))
    np.testing.assert_allclose(parts["attention"] + parts["read-out"], parts["gain"])
    base, ours_other = 40 + np.arange(4) / 5, 60 + np.arange(4) / 5
    np.testing.assert_allclose(parts["attention"], ((42 - base) + (base + 10 - ours_other)) / 2)
    assert gain(frame, "argmax", "std", 16) == gain(frame, "argmax", "ln", 512) == {}


def test_the_gain_that_is_split_is_of_the_lines_that_have_each_others_weights():
    """Those of none and ln, on each range, whatever the treatment of params.yaml."""
    longest = {"none": 16, "ln": 16, "rms": 16, "long-none": 64, "long-ln": 64, "long-rms": 64}
    frame = accuracies()
    long = frame.assign(line="long-" + frame["line"])
    others = [frame[frame["line"] == "ln"].assign(line="rms"), long[long["line"] == "long-ln"].assign(line="long-rms")]
    trained = SimpleNamespace(longest=longest)
    text = recovery(pd.concat([frame, long, *others]), trained)["interventions/interventions.md"]
    assert re.findall(r"^\| (argmax, \w+, \w+)", text, re.MULTILINE) == ["argmax, short, ln", "argmax, long, ln"]


def test_a_task_without_a_target_has_no_shapley_shares():
    accuracy = accuracies()
    without = accuracy[accuracy["intervention"].isin(names.WITHOUT_TARGET)]
    table = shares(without, LONGEST)
    assert set(table["kind"]) == {"recovered", "damage"}
    assert one(table, "recovered", names.restored("feature"), "before")["share"] > 0
