"""Checkpoints of equal loss, and the path of a study, from made-up accuracies, against scipy and statsmodels."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.multitest import multipletests

from vanishing_variance.studies.matched import at_equal_loss, matched
from vanishing_variance.studies.path import path, path_section
from vanishing_variance.studies.study import Study

LENGTHS = (16, 32, 64)


def models(seed, losses, accuracies):
    """Return results of one seed; `losses` and `accuracies` beyond training by rule."""
    rows = []
    for rule, loss in losses.items():
        for length in LENGTHS:
            rows.append((seed, rule, length, 0.99 if length == 16 else accuracies[rule], loss))
    return pd.DataFrame(rows, columns=["seed", "rule", "length", "accuracy", "loss"])


def test_the_model_with_the_lower_loss_gives_the_checkpoint_nearest_in_ratio():
    accuracies = {"plain": 0.9, "step_00001000": 0.5, "step_00002000": 0.7, "averaged": 0.95}
    ours = models(0, {"plain": 0.01, "step_00001000": 0.1, "step_00002000": 0.032, "averaged": 0.02}, accuracies)
    theirs = models(0, {"plain": 0.02, "step_00001000": 0.2, "step_00002000": 0.05}, accuracies)
    found = matched(ours, theirs, 16)
    # 0.032 is nearer to 0.02 in ratio, 0.01 by difference; averaged weights are no checkpoint
    assert found["matched"] == pytest.approx(70 - 90)
    assert found["matched_gap"] == pytest.approx(np.log(0.032 / 0.02))
    assert np.isnan(found["control"])
    back = matched(theirs, ours, 16)
    assert back["matched"] == pytest.approx(90 - 70)
    assert back["matched_gap"] == pytest.approx(np.log(0.02 / 0.032))


def test_the_control_is_what_an_earlier_step_costs_among_the_baselines_own_seeds():
    """Of two seeds the one with the lower loss is moved to the step of equal loss, whichever comes first."""
    low = models(0, {"plain": 0.01, "step_00001000": 0.04}, {"plain": 0.9, "step_00001000": 0.5})
    high = models(1, {"plain": 0.04, "step_00001000": 0.3}, {"plain": 0.8, "step_00001000": 0.1})
    both = pd.concat([low, high])
    found = matched(both, both, 16)
    assert [found["control"], found["control_low"], found["control_high"]] == pytest.approx([-30, -30, -30])


def test_the_gain_at_equal_loss_is_that_of_a_regression_on_the_log_loss():
    rng = np.random.default_rng(0)
    arms = []
    for gain in (0.05, 0.0):
        losses = np.exp(rng.normal(-4, 0.5, 20)) * (0.5 if gain else 1)
        accuracies = 0.4 + gain - 0.1 * np.log(losses) / 4 + rng.normal(0, 0.01, 20)
        seeds = zip(range(20), losses, accuracies, strict=True)
        arms.append(pd.concat([models(seed, {"plain": loss}, {"plain": value}) for seed, loss, value in seeds]))
    frame = pd.concat([arm[arm["length"] == 32].assign(arm=1 - place) for place, arm in enumerate(arms)])
    fitted = ols(
        "beyond ~ arm + log_loss", frame.assign(beyond=100 * frame["accuracy"], log_loss=np.log(frame["loss"]))
    )
    expected = fitted.fit()
    found = at_equal_loss(*arms, 16)
    assert [*found.values()] == pytest.approx([expected.params["arm"], *expected.conf_int().loc["arm"]])
    assert at_equal_loss(arms[0].drop(columns="loss"), arms[1], 16) == {}


LINES = ["a-ln", "b-ln", "c-ln"]
BASELINES = {line: line.replace("ln", "none") for line in LINES}
SEQUENCES = 100


def results(accuracy):
    """`accuracy`: correct ones of SEQUENCES, a row a seed, a column a length, by line."""
    rows = []
    for line, correct in accuracy.items():
        for seed, of_seed in enumerate(correct):
            for length, number in zip(LENGTHS, of_seed, strict=True):
                rows.append(
                    (line, seed, length, number / SEQUENCES, 1 / length, 4.0 / length, 2 / length, 0.5 / length)
                )
    columns = ["line", "seed", "length", "accuracy", "target", "variance", "target_0_0", "target_1_0"]
    return pd.DataFrame(rows, columns=columns).assign(task="argmax", rule="plain", note=None)


@pytest.fixture
def correct():
    rng = np.random.default_rng(0)
    lines = [*BASELINES, *BASELINES.values()]
    return {line: rng.integers(20, 80, (6, 3)) for line in lines} | {"c-ln": rng.integers(20, 80, (4, 3))}


def test_gains_and_changes_are_scipys(correct):
    found = path(results(correct), LINES, BASELINES, 16, SEQUENCES)
    assert found["n"].tolist() == [6, 6, 4]
    gains = {"points": [], "log_odds": []}
    for line, baseline in BASELINES.items():
        ours, theirs = correct[line], correct[baseline][: len(correct[line])]
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
    lines = {line: {} for line in [*BASELINES, *BASELINES.values()]}
    study = Study(question="Where?", tasks=["argmax"], lines=lines, compare=compare, path=LINES)
    assert "| b-ln" in path_section(table, study, {"short": 16}, SEQUENCES)
