"""The gain at equal loss, after some steps and on a path, from made-up accuracies, against scipy and statsmodels."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.multitest import multipletests
from test_board import line

from vanishing_variance.studies.equal_loss import at_equal_loss
from vanishing_variance.studies.path import path, path_section
from vanishing_variance.studies.steps import gains_by_steps
from vanishing_variance.studies.study import Study


def models(name, seed, accuracies):
    """Return results of one seed of a line; `accuracies` beyond training by rule."""
    return pd.concat(line(name, [(0.99, value, value)], rule, [seed]) for rule, value in accuracies.items())


def test_the_gain_after_each_kept_step_is_of_the_seeds_that_both_have():
    ours, theirs = [], []
    for seed in range(4):
        rules = {"last": 0.9, "step_00001000": 0.5 + seed / 100, "step_00002000": 0.7, "averaged": 0.95}
        ours.append(models("ln", seed, rules))
    for seed in range(1, 6):
        rules = {"last": 0.8, "step_00001000": 0.6, "step_00002000": 0.7}
        theirs.append(models("none", seed, rules))
    found = gains_by_steps(pd.concat([*ours, *theirs]), "ln", "none", 16)
    assert found["steps"].tolist() == ["00001000", "00002000", "last"]
    assert set(found["n"]) == {3}
    assert found["difference"].tolist() == pytest.approx([-8, 0, 10])
    test = stats.ttest_rel([51, 52, 53], [60, 60, 60]).confidence_interval()
    assert found.loc[0, ["difference_low", "difference_high"]].tolist() == pytest.approx([*test])
    last = pd.concat([*ours, *theirs]).query("rule == 'last'")
    assert gains_by_steps(last, "ln", "none", 16).empty


def test_the_gain_at_equal_loss_is_that_of_a_regression_on_the_log_loss():
    rng = np.random.default_rng(0)
    arms = []
    for gain, number in ((0.05, 20), (0.0, 14)):
        losses = np.exp(rng.normal(-4, 0.5, number)) * (0.5 if gain else 1)
        accuracies = 0.4 + gain - 0.1 * np.log(losses) / 4 + rng.normal(0, 0.01, number)
        seeds = zip(range(number), losses, accuracies, strict=True)
        arms.append(pd.concat([models("ln", seed, {"last": value}).assign(loss=loss) for seed, loss, value in seeds]))
    frame = pd.concat([arm[arm["length"] == 32].assign(arm=1 - place) for place, arm in enumerate(arms)])
    fitted = ols(
        "beyond ~ arm + log_loss", frame.assign(beyond=100 * frame["accuracy"], log_loss=np.log(frame["loss"]))
    )
    expected = fitted.fit()
    found = at_equal_loss(*arms, 16)
    assert [*found.values()] == pytest.approx([expected.params["arm"], *expected.conf_int().loc["arm"]])
    for without in (arms[0].drop(columns="loss"), arms[0].assign(loss=0.0)):
        assert at_equal_loss(without, arms[1], 16) == {}


LINES = ["a-ln", "b-ln", "c-ln"]
BASELINES = {name: name.replace("ln", "none") for name in LINES}
SEQUENCES = 100


def results(accuracy):
    """`accuracy`: correct ones of SEQUENCES, a row a seed, a column a length, by line."""
    lines = [line(name, of / SEQUENCES, seeds=range(len(of))) for name, of in accuracy.items()]
    table = pd.concat(lines, ignore_index=True)
    return table.assign(target_0_0=2 / table["length"], target_1_0=0.5 / table["length"])


@pytest.fixture
def correct():
    rng = np.random.default_rng(0)
    names = [*BASELINES, *BASELINES.values()]
    return {name: rng.integers(20, 80, (6, 3)) for name in names} | {"c-ln": rng.integers(20, 80, (4, 3))}


def test_gains_and_changes_are_scipys(correct):
    found = path(results(correct), LINES, BASELINES, 16, SEQUENCES)
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


def test_a_line_that_diverged_has_no_gain_and_neither_have_changes_from_and_to_it(correct):
    table = results(correct)
    table = table[table["line"] != "b-ln"]
    found = path(table, LINES, BASELINES, 16, SEQUENCES).set_index("line")
    assert found.loc["b-ln", "n"] == 0
    assert found["points"].isna().tolist() == [False, True, False]
    assert found["points_change"].isna().all()
    compare = [list(pair) for pair in BASELINES.items()]
    lines = {name: {} for name in [*BASELINES, *BASELINES.values()]}
    study = Study(question="Where?", tasks=["argmax"], lines=lines, compare=compare, path=LINES)
    assert "| b-ln" in path_section(table, study, {"short": 16}, SEQUENCES)


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
    found = path(table, LINES, BASELINES, 16, SEQUENCES)
    assert found["line"].tolist() == [*LINES, "pooled from b-ln on"]
    assert found["trained"].tolist() == [True, False, True, True]
    by_seed = [(accuracy[f"{name}-ln"] - accuracy[f"{name}-none"])[:, 1:].mean(axis=1) for name in "abc"]
    pooled = stats.ttest_1samp((by_seed[1] + by_seed[2]) / 2, 0).confidence_interval()
    assert found.loc[3, ["points_low", "points_high"]].tolist() == pytest.approx([*pooled])
    since = [(of - by_seed[0]).mean() for of in by_seed]
    assert found["from_first"].tolist() == pytest.approx([np.nan, *since[1:], np.nan], nan_ok=True)
