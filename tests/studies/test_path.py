"""The path of depth: gains on it from made-up accuracies, against scipy and statsmodels; in git, its results'."""

import runpy

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from scipy import stats
from statsmodels.stats.multitest import multipletests
from test_board import line

SCRIPT = runpy.run_path(str(ROOT / "studies/depth/path.py"))
path = SCRIPT["path"]
LINES = ["a-ln", "b-ln", "c-ln"]
BASELINES = {name: name.replace("ln", "none") for name in LINES}
SEQUENCES = 100


def results(accuracy):
    """`accuracy`: correct ones of SEQUENCES, a row a seed, a column a length, by line."""
    lines = [line(name, of / SEQUENCES, seeds=range(len(of))) for name, of in accuracy.items()]
    return pd.concat(lines, ignore_index=True)


@pytest.fixture
def correct():
    rng = np.random.default_rng(0)
    names = [*BASELINES, *BASELINES.values()]
    return {name: rng.integers(20, 80, (6, 3)) for name in names} | {"c-ln": rng.integers(20, 80, (4, 3))}


def test_gains_and_changes_are_scipys(correct):
    found = path(results(correct), LINES, BASELINES, SEQUENCES)
    assert found["n"].tolist() == [6, 6, 4]
    gains = {"points": [], "log_odds": []}
    for name, baseline in BASELINES.items():
        ours, theirs = correct[name], correct[baseline][: len(correct[name])]
        gains["points"].append((ours - theirs)[:, 1:].mean(axis=1))
        odds = [np.log((arm[:, 2] + 0.5) / (SEQUENCES - arm[:, 2] + 0.5)) for arm in (ours, theirs)]
        gains["log_odds"].append(odds[0] - odds[1])
    for view, (first, second, third) in gains.items():
        for row, of_line in zip(found.to_dict("records"), (first, second, third), strict=True):
            interval = stats.ttest_1samp(of_line, 0).confidence_interval()
            ends = [row[f"{view}_low"], row[f"{view}_high"]]
            np.testing.assert_allclose([row[view], *ends], [of_line.mean(), *interval])
        tests = [stats.ttest_rel(second, first), stats.ttest_rel(third, second[:4])]
        _, adjusted, *_ = multipletests([test.pvalue for test in tests], method="holm")
        np.testing.assert_allclose(found[f"{view}_p"], [np.nan, *adjusted])
        changes = (second - first).mean(), (third - second[:4]).mean()
        np.testing.assert_allclose(found[f"{view}_change"], [np.nan, *changes])
        lows = [test.confidence_interval().low for test in tests]
        np.testing.assert_allclose(found[f"{view}_change_low"], [np.nan, *lows])


def test_from_a_clear_change_on_lines_are_pooled_and_those_that_did_not_train_are_marked():
    rng = np.random.default_rng(1)
    gains = {"a": 30, "b": 2, "c": 1}
    accuracy = {}
    for name, gain in gains.items():
        noise = rng.integers(-3, 4, (6, 2))
        short = np.full(6, 90 if name == "b" else 100)
        for arm, more in (("none", 0), ("ln", gain)):
            accuracy[f"{name}-{arm}"] = np.column_stack([short, 40 + more + noise * (arm == "ln")])
    table = results(accuracy)
    found = path(table, LINES, BASELINES, SEQUENCES)
    assert found["line"].tolist() == [*LINES, "pooled from b-ln on"]
    assert found["trained"].tolist() == [True, False, True, True]
    by_seed = [(accuracy[f"{name}-ln"] - accuracy[f"{name}-none"])[:, 1:].mean(axis=1) for name in "abc"]
    pooled = stats.ttest_1samp((by_seed[1] + by_seed[2]) / 2, 0).confidence_interval()
    assert found.loc[3, ["points_low", "points_high"]].tolist() == pytest.approx([*pooled])
    since = [(of - by_seed[0]).mean() for of in by_seed]
    assert found["from_first"].tolist() == pytest.approx([np.nan, *since[1:], np.nan], nan_ok=True)


def test_the_path_in_git_is_that_of_its_results(monkeypatch):
    """Else: python studies/depth/path.py."""
    monkeypatch.chdir(ROOT)
    assert SCRIPT["tables"]() == (ROOT / "studies/depth/path.md").read_text()
