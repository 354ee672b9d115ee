"""The gain at equal loss and after some steps, from made-up accuracies, against scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_board import line

from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.studies.equal_loss import at_equal_loss
from vanishing_variance.studies.steps import gains_by_steps


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
    ln, none = (arm.sort_values("seed") for _, arm in frame.groupby("arm", sort=False))
    outcomes = [100 * arm["accuracy"].to_numpy() for arm in (ln, none)]
    at_none, at_ln = adjusted(*outcomes, *(np.log(arm["loss"].to_numpy()) for arm in (ln, none)))
    assert [*at_equal_loss(*arms, 16).values()] == pytest.approx([*at_none, *at_ln])
    for without in (arms[0].drop(columns="loss"), arms[0].assign(loss=9e-6)):
        assert at_equal_loss(without, arms[1], 16) == {}
