"""The statistics of two arms, against numpy, scipy and made-up accuracies whose gain is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

from vanishing_variance.results.arms import BEYOND, Arms
from vanishing_variance.results.paired import estimate_of, paired
from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.statistics.log_odds import log_odds as log_odds_of

LENGTHS = [16, 32, 64, 128, 256]
SEQUENCES = 512


def drawn(seed, shift=0.0, seeds=range(12), **more):
    """Return results of one line and rule whose accuracies fall with length, a row a seed and length."""
    rng = np.random.default_rng(seed)
    ability = 5 + rng.normal(0, 0.5, (len(seeds), 1)) + shift
    accuracy = rng.binomial(SEQUENCES, expit(ability - np.arange(5) * 1.2)) / SEQUENCES
    wide = pd.DataFrame(accuracy, index=pd.Index(seeds, name="seed"), columns=pd.Index(LENGTHS, name="length"))
    return wide.stack().rename("accuracy").reset_index().assign(task="argmax", rule="last", note=None, **more)


def percent(results):
    return 100 * results.pivot(index="seed", columns="length", values="accuracy")


def arms_of(ours, theirs, longest=16):
    return Arms(ours.sample(frac=1, random_state=0), theirs, longest, SEQUENCES)


def test_the_statistics_are_those_of_numpy_and_scipy():
    results = drawn(0, 0.4), drawn(1)
    arms = arms_of(*results)
    ours, theirs = map(percent, results)
    treated, untreated = (arm.iloc[:, 1:].mean(axis=1).to_numpy() for arm in (ours, theirs))
    test = stats.ttest_rel(treated, untreated)
    found = paired(arms, BEYOND)
    assert (found.mean, found.p) == pytest.approx((treated.mean() - untreated.mean(), test.pvalue))

    odds = [log_odds_of(arm.to_numpy() / 100, SEQUENCES) for arm in (ours, theirs)]
    by_length = odds[0] - odds[1]
    assert estimate_of(arms, "log_odds", 16)[0] == pytest.approx(by_length[:, 0].mean())
    assert estimate_of(arms, "log_odds", 256)[0] == pytest.approx(by_length[:, -1].mean())

    at_equal = adjusted(treated, untreated, odds[0][:, 0], odds[1][:, 0])
    np.testing.assert_allclose([estimate_of(arms, f"at_{whose}_accuracy") for whose in ("baseline", "own")], at_equal)


def test_only_common_seeds_count_and_without_a_length_of_training_there_are_points_alone():
    ours, theirs = drawn(0), drawn(1, seeds=range(4, 20))
    assert paired(arms_of(ours, theirs), BEYOND).n == 8
    arms = arms_of(ours, theirs, longest=8)
    assert paired(arms, BEYOND).n == 8
    assert np.isnan([estimate_of(arms, "log_odds", 16), estimate_of(arms, "at_own_accuracy")]).all()


def test_at_equal_loss_is_a_regression_of_all_seeds_on_the_log_loss():
    rng = np.random.default_rng(0)
    results, outcomes, log_losses = [], [], []
    for seed, number in ((0, 20), (1, 14)):
        arm = drawn(seed, seeds=range(number))
        losses = pd.Series(np.exp(rng.normal(-4, 0.5, number)))
        results.append(arm.assign(loss=arm["seed"].map(losses)))
        outcomes.append(percent(arm).iloc[:, 1:].mean(axis=1).to_numpy())
        log_losses.append(np.log(losses.to_numpy()))
    arms = arms_of(*results)
    expected = adjusted(*outcomes, *log_losses)
    np.testing.assert_allclose([estimate_of(arms, f"at_{whose}_loss") for whose in ("baseline", "own")], expected)
    gains = log_losses[0][:14] - log_losses[1]
    low, high = stats.ttest_1samp(gains, 0).confidence_interval()
    np.testing.assert_allclose(estimate_of(arms, "log_loss"), [gains.mean(), low, high])
    for without in (results[0].drop(columns="loss"), results[0].assign(loss=9e-6)):
        assert np.isnan(estimate_of(arms_of(without, results[1]), "at_own_loss")).all()
    some = results[0].assign(loss=results[0]["loss"].where(results[0]["seed"] > 3))  # the n beside it is of all
    assert np.isnan([estimate_of(arms_of(some, results[1]), name) for name in ("log_loss", "at_own_loss")]).all()
    small = results[0].assign(loss=1e-4 * results[0]["loss"])  # with all digits
    assert np.isfinite(estimate_of(arms_of(small, results[1]), "at_own_loss")).all()


def test_differences_that_are_equal_have_no_interval():
    baseline = drawn(0).assign(accuracy=0.5, loss=0.01, misranked=0.5)
    arms = arms_of(baseline.assign(accuracy=0.75, loss=0.02, misranked=0.25), baseline)
    for name, mean in (("log_odds", None), ("anytime", 25), ("gain_misranked", 25), ("log_loss", np.log(2))):
        found, low, high = estimate_of(arms, name, 16 if name == "log_odds" else BEYOND)
        assert np.isnan([low, high]).all()
        assert mean is None or found == pytest.approx(mean)
