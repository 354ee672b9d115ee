"""The gain after some steps, and at equal loss."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from statsmodels.formula.api import ols

from vanishing_variance.studies.equal_loss import at_equal_loss
from vanishing_variance.studies.steps import gains_by_steps

LENGTHS = (16, 32, 64)


def models(seed, losses, accuracies):
    """Return results of one seed; `losses` and `accuracies` beyond training by rule."""
    rows = []
    for rule, loss in losses.items():
        for length in LENGTHS:
            rows.append((seed, rule, length, 0.99 if length == 16 else accuracies[rule], loss))
    return pd.DataFrame(rows, columns=["seed", "rule", "length", "accuracy", "loss"])


def test_the_gain_after_each_kept_step_is_of_the_seeds_that_both_have():
    ours, theirs = [], []
    for seed in range(4):
        rules = {"last": 0.9, "step_00001000": 0.5 + seed / 100, "step_00002000": 0.7, "averaged": 0.95}
        ours.append(models(seed, dict.fromkeys(rules), rules).assign(task="argmax", line="ln"))
    for seed in range(1, 6):
        rules = {"last": 0.8, "step_00001000": 0.6, "step_00002000": 0.7}
        theirs.append(models(seed, dict.fromkeys(rules), rules).assign(task="argmax", line="none"))
    found = gains_by_steps(pd.concat([*ours, *theirs]), "ln", "none", 16)
    assert found["steps"].tolist() == ["00001000", "00002000", "last"]
    assert set(found["n"]) == {3}
    assert found["difference"].tolist() == pytest.approx([-8, 0, 10])
    test = ttest_rel([51, 52, 53], [60, 60, 60]).confidence_interval()
    assert found.loc[0, ["difference_low", "difference_high"]].tolist() == pytest.approx([*test])
    last = pd.concat([*ours, *theirs]).query("rule == 'last'")
    assert gains_by_steps(last, "ln", "none", 16).empty


def test_the_gain_at_equal_loss_is_that_of_a_regression_on_the_log_loss():
    rng = np.random.default_rng(0)
    arms = []
    for gain in (0.05, 0.0):
        losses = np.exp(rng.normal(-4, 0.5, 20)) * (0.5 if gain else 1)
        accuracies = 0.4 + gain - 0.1 * np.log(losses) / 4 + rng.normal(0, 0.01, 20)
        seeds = zip(range(20), losses, accuracies, strict=True)
        arms.append(pd.concat([models(seed, {"last": loss}, {"last": value}) for seed, loss, value in seeds]))
    frame = pd.concat([arm[arm["length"] == 32].assign(arm=1 - place) for place, arm in enumerate(arms)])
    fitted = ols(
        "beyond ~ arm + log_loss", frame.assign(beyond=100 * frame["accuracy"], log_loss=np.log(frame["loss"]))
    )
    expected = fitted.fit()
    found = at_equal_loss(*arms, 16)
    assert [*found.values()] == pytest.approx([expected.params["arm"], *expected.conf_int().loc["arm"]])
    assert at_equal_loss(arms[0].drop(columns="loss"), arms[1], 16) == {}
