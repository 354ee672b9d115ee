import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_tables import made_up, paired_up

from vanishing_variance.analysis.paired_tests import paired_tests, select
from vanishing_variance.statistics.components import components
from vanishing_variance.statistics.holm import holm

ACCURACY = made_up(seeds=6, lengths=(16, 32, 64))


def test_every_pair_is_tested_by_seed_in_percent():
    tests = paired_up(ACCURACY.sample(frac=1, random_state=0))
    pairs = tests[["range", "treatment", "baseline"]].drop_duplicates().to_numpy().tolist()
    short = [["short", *pair] for pair in (("std", "none"), ("ln", "none"), ("ln", "std"))]
    assert pairs == [*short, ["long", "ln", "none"]]
    assert len(tests) == 2 * 4 * 3 * 3
    of = select(tests, "argmax", "short", "ln", "none")
    assert of["temperature"].tolist() == [name for name in ("plain", "adaptive", "fitted") for _ in range(3)]
    assert of["length"].tolist() == [16, 32, 64] * 3
    plain = ACCURACY.query("task == 'argmax' and range == 'short' and temperature == 'plain' and length == 32")
    none, ln = (
        plain[plain["norm"] == norm].sort_values("seed")["accuracy"].to_numpy() * 100 for norm in ("none", "ln")
    )
    row = of.iloc[1]
    assert row["baseline_mean"] == pytest.approx(none.mean())
    assert row["treatment_mean"] == pytest.approx(ln.mean())
    assert row["difference"] == pytest.approx((ln - none).mean())
    assert row["p"] == pytest.approx(stats.ttest_rel(ln, none).pvalue)
    assert row["p_wilcoxon"] == pytest.approx(stats.wilcoxon(ln - none).pvalue)
    assert row["boot_low"] < row["difference"] < row["boot_high"]


def test_holm_corrects_over_the_lengths_of_one_temperature():
    of = select(paired_up(ACCURACY), "dictionary", "short", "ln", "std")
    for _, rows in of.groupby("temperature"):
        assert rows["p_holm"].tolist() == holm(rows["p"].to_numpy()).tolist()
    assert (of["p_holm"] > of["p"]).any()


def test_shares_are_those_of_the_answers_of_both_variants():
    rng = np.random.default_rng(0)
    right = {
        norm: {f"{t}-{n}": rng.random((6, 50)) < share for t in ("plain", "adaptive", "fitted") for n in (16, 32, 64)}
        for norm, share in (("none", 0.5), ("std", 0.6), ("ln", 0.7))
    }
    tests = paired_tests(ACCURACY, lambda task, range_, norm: right[norm], "ln", 0)
    row = select(tests, "argmax", "short", "ln", "none").query("temperature == 'fitted' and length == 64").iloc[0]
    expected = components(100.0 * right["ln"]["fitted-64"] - 100.0 * right["none"]["fitted-64"])
    assert row["se"] == pytest.approx(expected.se)
    assert row["share_sequences"] == pytest.approx(expected.share_sequences)
    assert row[["share_seeds", "share_sequences", "share_both"]].sum() == pytest.approx(1)


def test_the_same_root_gives_the_same_intervals():
    first, again, other = (paired_tests(ACCURACY, answers, "ln", root) for root in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert (first["boot_low"] != other["boot_low"]).any()
    assert (first["low"] == other["low"]).all()


def answers(task, range_, norm):
    names = [f"{t}-{n}" for t in ("plain", "adaptive", "fitted") for n in (16, 32, 64)]
    return {name: np.arange(60).reshape(6, 10) % 3 == 0 for name in names}


def test_one_seed_is_answered_in_words():
    tests = paired_up(made_up(seeds=1))
    assert tests["p"].isna().all()
    assert (tests["note"] == "one seed: no test").all()
    assert tests["se"].isna().all()
