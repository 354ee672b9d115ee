import numpy as np
import pytest
from made_up_tests import made_up, paired_up, select
from scipy import stats
from statsmodels.stats.multitest import multipletests

from vanishing_variance.engine.streams import stream
from vanishing_variance.results.compare.paired_tests import paired_tests
from vanishing_variance.results.runs import RULES
from vanishing_variance.statistics.components import components

ACCURACY = made_up(seeds=6, lengths=(16, 32, 64))


@pytest.fixture(scope="module")
def tests():
    return paired_up(ACCURACY.sample(frac=1, random_state=0))


def test_every_pair_is_tested_by_seed_in_percent(tests):
    pairs = tests[["range", "treatment", "baseline"]].drop_duplicates().to_numpy().tolist()
    short = [["short", *pair] for pair in (("std", "none"), ("ln", "none"), ("ln", "std"))]
    assert pairs == [*short, ["long", "ln", "none"]]
    assert len(tests) == 2 * 4 * len(RULES) * 3
    of = select(tests, "argmax", "short", "ln", "none")
    assert of["rule"].tolist() == [name for name in RULES for _ in range(3)]
    assert of["length"].tolist() == [16, 32, 64] * len(RULES)
    last = ACCURACY.query("task == 'argmax' and range == 'short' and rule == 'last' and length == 32")
    none, ln = (last[last["norm"] == norm].sort_values("seed")["accuracy"].to_numpy() * 100 for norm in ("none", "ln"))
    row = of.iloc[1]
    assert row["n"] == 6
    assert row["baseline_mean"] == pytest.approx(none.mean())
    assert row["treatment_mean"] == pytest.approx(ln.mean())
    assert row["difference"] == pytest.approx((ln - none).mean())
    assert row["p"] == pytest.approx(stats.ttest_rel(ln, none).pvalue)


def test_holm_corrects_over_the_lengths_of_one_rule(tests, monkeypatch):
    monkeypatch.setattr("gc.collect", lambda: 0)  # which statsmodels calls each time, and is slow among many modules
    of = select(tests, "dictionary", "short", "ln", "std")
    for _, rows in of.groupby("rule"):
        np.testing.assert_allclose(rows["p_holm"], multipletests(rows["p"], method="holm")[1], rtol=1e-9)
    assert (of["p_holm"] > of["p"]).any()


def test_shares_are_those_of_the_answers_of_both_variants():
    names = [f"{rule}-{n}" for rule in RULES for n in (16, 32, 64)]
    right = {norm: {name: stream(norm, name).random((6, 50)) < 0.6 for name in names} for norm in ("none", "ln")}
    tests = paired_tests(ACCURACY, lambda task, range_, norm: right[norm], "ln", ("long",))
    row = select(tests, "argmax", "long", "ln", "none").query("rule == 'averaged' and length == 64").iloc[0]
    expected = components(100.0 * right["ln"]["averaged-64"] - 100.0 * right["none"]["averaged-64"])
    assert row[[*vars(expected)]].tolist() == pytest.approx([*vars(expected).values()])
