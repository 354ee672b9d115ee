import numpy as np
import pandas as pd
import pytest

from vanishing_variance.figures.interventions import draw
from vanishing_variance.study.interventions import (
    ATTENTION,
    BASE,
    DAMAGING,
    FORMS,
    NOTHING,
    OTHER,
    PLACES,
    RECOVERING,
    TARGET,
    both,
    damaged,
    kept_long,
    restored,
)
from vanishing_variance.study.shares import BEYOND, gain, shares
from vanishing_variance.study.shares_table import groups, markdown

MOMENTS = {name(form) for form in FORMS for name in (restored, kept_long, both, damaged)}


def accuracies(norms=("none", "ln"), seeds=4, **values):
    """0.9 at the training lengths; base 0.9, 0.5 and 0.3 at 8, 64 and 512; every intervention 0.5 unless named."""
    rows = []
    for norm in norms:
        for seed in range(seeds):
            rows.append((norm, seed, 0, BASE, NOTHING, 0.9 + seed / 1000))
            for length, base in ((8, 0.9), (64, 0.5), (512, 0.3)):
                rows.append((norm, seed, length, BASE, NOTHING, base + seed / 500))
                for name in (*RECOVERING, *DAMAGING):
                    for where in PLACES if name in MOMENTS else (ATTENTION,):
                        rows.append((norm, seed, length, name, where, values.get(name, 0.5) + seed / 500))
    frame = pd.DataFrame(rows, columns=["norm", "seed", "length", "intervention", "where", "accuracy"])
    return frame.assign(task="argmax", range="short")


def one(table, kind, name, where, length=None, norm="none"):
    scope = table["scope"] == BEYOND if length is None else table["length"] == length
    chosen = (table["kind"] == kind) & (table["intervention"] == name) & (table["where"] == where) & scope
    [row] = table[chosen & (table["norm"] == norm)].to_dict("records")
    return row


def test_shares_are_of_the_fall_between_the_same_seeds():
    table = shares(accuracies(**{TARGET: 0.7, damaged("global"): 0.8}), {"short": 16})
    row = one(table, "recovered", TARGET, ATTENTION, 512)
    assert row["share"] == pytest.approx(0.4 / 0.5985, abs=1e-6)
    assert row["share_low"] < row["share"] < row["share_high"]
    assert (row["change"], row["fall"], row["n"]) == (pytest.approx(40), pytest.approx(59.85), 4)
    together = one(table, "recovered", TARGET, ATTENTION)
    assert together["change"] == pytest.approx((20 + 40) / 2)
    assert np.isnan(together["length"])
    row = one(table, "damage", damaged("global"), "after", 64)
    assert row["change"] == pytest.approx(10, abs=0.5)
    assert row["share"] == pytest.approx(0.0985 / 0.3985)
    alone = one(shares(accuracies(seeds=1), {"short": 16}), "recovered", TARGET, ATTENTION, 64)
    assert (alone["share"], alone["note"]) == (0, "one seed: no interval")
    assert np.isnan(alone["change_low"])


def test_where_nothing_is_lost_words_say_so():
    table = shares(accuracies(), {"short": 16})
    row = one(table, "recovered", TARGET, ATTENTION, 8)
    assert np.isnan(row["share"])
    assert row["note"] == "accuracy falls by -0.15 points, less than 1: no share"
    frame = accuracies()
    frame.loc[(frame["intervention"] == BASE) & (frame["length"] == 64), "accuracy"] += np.tile([0.5, -0.4], 4)
    row = one(shares(frame, {"short": 16}), "recovered", TARGET, ATTENTION, 64)
    assert np.isnan(row["share"])
    assert row["note"] == "the fall of 35 points may be 0: no share"


def test_shapley_shares_add_up_to_what_both_bring():
    values = {restored("global"): 0.35, kept_long("global"): 0.6, both("global"): 0.9}
    table = shares(accuracies(**values), {"short": 16})
    weight, moments = (
        one(table, "Shapley", f"{part} (global moments)", "after", 512) for part in ("target weight", "moments")
    )
    # base 0.3: the weight brings 30 or 55 points, the moments 5 or 30
    assert (weight["change"], moments["change"]) == (pytest.approx(42.5), pytest.approx(17.5))


def test_the_gain_is_split_by_each_model_with_the_others_weights():
    frame = accuracies()
    frame.loc[frame["norm"] == "ln", "accuracy"] += 0.1
    frame.loc[(frame["norm"] == "none") & (frame["intervention"] == OTHER), "accuracy"] = 0.42
    parts = gain(frame, "argmax", "short", "ln", 16)
    assert parts["gain"] == pytest.approx(np.full(4, 10))
    np.testing.assert_allclose(parts["attention"] + parts["read-out"], parts["gain"])
    base, other = 40 + np.arange(4) / 5, 42.0
    ours_other = 60 + np.arange(4) / 5
    np.testing.assert_allclose(parts["attention"], ((other - base) + (base + 10 - ours_other)) / 2)
    assert gain(frame, "argmax", "short", "std", 16) == {}
    assert gain(frame, "argmax", "short", "ln", 512) == {}


def test_the_tables_and_the_figure_show_them():
    frame = accuracies(norms=("ln", "none"))
    table = shares(frame, {"short": 16})
    [(heading, norms, rows)] = groups(table)
    assert (heading, norms) == ("argmax, trained on the short range", ["none", "ln"])
    assert rows[0][0] == "fall (points)"
    assert rows[0][1][0].startswith("49.9 [49.6, ")
    names = [name for name, _ in rows]
    assert names[1] == "recovered: global moments restored, before the normaliser"
    assert names[-1] == "Shapley: moments (global moments), after the normaliser"
    read = pd.DataFrame(
        [("argmax", "short", "ln", "tested", 64, 0.1, 0.2, 40, 2, 0.5, 0.4, 0.6)],
        columns=[
            *("task", "range", "norm", "sample", "length", "above", "to", "sequences", "n"),
            "accuracy",
            "low",
            "high",
        ],
    )
    text = markdown(table, {("argmax", "short", "ln"): gain(frame, "argmax", "short", "ln", 16)}, read)
    assert "| 0.1 to 0.2 | – | 50 [40, 60] |" in text
    assert "| argmax, short range, ln | +0.0 [+0.0, +0.0] |" in text
    assert "nan" not in text
    drawing = draw(table, 16)
    panels = drawing.figure.axes
    titles = ["(a) argmax, none", "(b) argmax, + ln", "(c) argmax, none", "(d) argmax, + ln"]
    assert [axes.get_title(loc="left") for axes in panels] == titles
    assert [len(axes.get_lines()) for axes in panels] == [2 + 6, 2 + 6, 2 + 4, 2 + 4]
    assert drawing.caption.startswith("Trained on up to 16 items, n = 4 seeds; the band is the 95% interval over seeds")
    assert len(draw(table[table["length"] == 8], 16).figure.axes) == 2


def test_the_figures_lines_are_broken_at_lengths_without_a_share():
    table = shares(accuracies(norms=("ln", "none")), {"short": 16})
    table = pd.concat([table, table[table["length"] == 512].assign(length=4096)])
    table.loc[table["length"] == 512, "share"] = None
    axes = draw(table, 16).figure.axes[0]
    for line in axes.get_lines()[2:]:
        assert line.get_xdata()[np.isfinite(line.get_ydata())].tolist() == [64, 4096]
        assert np.isnan(line.get_ydata()[list(line.get_xdata()).index(512)])
    assert [path.get_extents().xmin for path in axes.collections[0].get_paths()] == [64, 4096]
