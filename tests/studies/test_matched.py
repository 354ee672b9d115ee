"""Checkpoints of equal loss: which are taken, and what is compared."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from vanishing_variance.studies.matched import at_equal_loss, matched

LENGTHS = (16, 32, 64)


def models(seed, losses, accuracies):
    """Return results of one seed; `losses` and `accuracies` beyond training by rule."""
    rows = []
    for rule, loss in losses.items():
        for length in LENGTHS:
            rows.append((seed, rule, length, 0.99 if length == 16 else accuracies[rule], loss))
    return pd.DataFrame(rows, columns=["seed", "rule", "length", "accuracy", "loss"])


def test_the_model_with_the_lower_loss_gives_the_checkpoint_nearest_in_ratio():
    accuracies = {"last": 0.9, "step_00001000": 0.5, "step_00002000": 0.7, "averaged": 0.95}
    ours = models(0, {"last": 0.01, "step_00001000": 0.1, "step_00002000": 0.032, "averaged": 0.02}, accuracies)
    theirs = models(0, {"last": 0.02, "step_00001000": 0.2, "step_00002000": 0.05}, accuracies)
    found = matched(ours, theirs, 16)
    # 0.032 is nearer to 0.02 in ratio, 0.01 by difference; averaged weights are no checkpoint
    assert found["matched"] == pytest.approx(70 - 90)
    assert found["matched_gap"] == pytest.approx(np.log(0.032 / 0.02))
    assert np.isnan(found["control"])
    back = matched(theirs, ours, 16)
    assert back["matched"] == pytest.approx(90 - 70)
    assert back["matched_gap"] == pytest.approx(np.log(0.02 / 0.032))


def test_pairs_are_of_seeds_that_both_have():
    accuracies = {"last": 0.9, "step_00001000": 0.5}
    losses = {"last": 0.01, "step_00001000": 0.1}
    ours = pd.concat([models(seed, losses, accuracies) for seed in range(4)])
    theirs = pd.concat([models(seed, losses, accuracies) for seed in range(1, 6)])
    found = matched(ours, theirs, 16)
    assert (found["matched"], found["matched_gap"]) == (0, 0)
    only = ours[ours["seed"] == 0]
    assert matched(only, theirs, 16) == {}


def test_without_checkpoints_or_losses_there_is_nothing_to_match():
    alone = models(0, {"last": 0.01}, {"last": 0.9})
    assert matched(alone, alone, 16) == {}
    kept = models(0, {"last": None, "step_00001000": None}, {"last": 0.9, "step_00001000": 0.5})
    assert matched(kept, kept, 16) == {}


def test_the_control_is_what_an_earlier_step_costs_among_the_baselines_own_seeds():
    """Of two seeds the one with the lower loss is moved to the step of equal loss, whichever comes first."""
    low = models(0, {"last": 0.01, "step_00001000": 0.04}, {"last": 0.9, "step_00001000": 0.5})
    high = models(1, {"last": 0.04, "step_00001000": 0.3}, {"last": 0.8, "step_00001000": 0.1})
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
        arms.append(pd.concat([models(seed, {"last": loss}, {"last": value}) for seed, loss, value in seeds]))
    frame = pd.concat([arm[arm["length"] == 32].assign(arm=1 - place) for place, arm in enumerate(arms)])
    fitted = ols(
        "beyond ~ arm + log_loss", frame.assign(beyond=100 * frame["accuracy"], log_loss=np.log(frame["loss"]))
    )
    expected = fitted.fit()
    found = at_equal_loss(*arms, 16)
    assert [*found.values()] == pytest.approx([expected.params["arm"], *expected.conf_int().loc["arm"]])
    assert at_equal_loss(arms[0].drop(columns="loss"), arms[1], 16) == {}
