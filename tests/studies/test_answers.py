"""Scripts of studies: what they wrote is in git; the readings of the rivals' plan, from made-up accuracies."""

import runpy

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from scipy import stats

from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import changed

SCRIPT = runpy.run_path(str(ROOT / "studies/rivals/answer.py"))
LENGTHS = [16, 32, 4096]


@pytest.mark.parametrize("path", sorted((ROOT / "studies").glob("*/*.py")), ids=lambda path: path.parent.name)
def test_what_a_script_writes_is_in_git(path, monkeypatch):
    """Else: run it. Whatever test.sequences is: the sequences of these studies are 512."""
    monkeypatch.chdir(ROOT)
    tables_of = runpy.run_path(str(path))["tables"]
    params = changed(read_yaml(ROOT / "params.yaml"), {"test.sequences": 4096})
    monkeypatch.setitem(tables_of.__globals__, "read_yaml", lambda _: params)
    for name, text in tables_of().items():
        assert text == (path.parent / name).read_text(encoding="utf-8")


def percent(*rows):
    """Return accuracies, a row a seed."""
    return pd.DataFrame(rows, columns=LENGTHS, dtype=float)


@pytest.mark.parametrize(
    ("gain", "word"),
    [
        ((100, 3, 0.01, False), "helps"),
        ((100, -3, 0.01, False), "costs"),
        ((100, 0.2, 0.01, True), "helps"),
        ((100, 0.2, 0.2, True), "makes no difference"),
        ((100, 2, 0.2, False), "undecided"),
        ((98, 3, 0.01, False), "did not train"),
    ],
)
def test_a_gain_is_read_as_the_plan_says(gain, word):
    assert SCRIPT["reading"](*gain) == word


def test_a_family_is_tested_by_points_or_by_log_odds_of_the_seeds_that_both_have():
    none, arm = percent((100, 90, 50), (100, 92, 40), (99, 90, 60)), percent((100, 92, 55), (99, 95, 60))
    points = SCRIPT["points_gain"](arm, none)
    assert points.p == pytest.approx(stats.ttest_rel([73.5, 77.5], [70, 66]).pvalue)
    odds = SCRIPT["log_odds_gain"](arm, none)
    correct = 5.12 * np.array([[55, 60], [50, 40]])
    ours, theirs = np.log((correct + 0.5) / (512.5 - correct))
    assert odds.p == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)


def test_equal_is_what_two_one_sided_tests_put_within_a_point():
    none = percent((100, 90, 50), (100, 92, 40), (99, 90, 60))
    for shift in (0.3, 0.9):
        arm = none + shift + percent((0, 0.1, 0.2), (0, -0.1, 0.3), (0, 0, -0.2))
        gains = (arm - none)[[32, 4096]].mean(axis=1)
        above, below = (stats.ttest_1samp(gains, end, alternative=side) for end, side in ((-1, "greater"), (1, "less")))
        assert SCRIPT["is_equal"](arm, none) == (max(above.pvalue, below.pvalue) < 0.05)


def test_the_attention_is_that_of_the_head_with_most_of_it():
    heads = [("ln", 1, 0.2, 0.5), ("none", 1, 0.4, 0.1), ("ln", 2, 0.3, 0.1), ("none", 2, 0.1, 0.2)]
    tested = pd.DataFrame(heads, columns=["line", "seed", "target_0_0", "target_0_1"]).assign(rule="last", length=4096)
    assert SCRIPT["attention_gain"](tested, "", "ln")[0] == pytest.approx(10)
