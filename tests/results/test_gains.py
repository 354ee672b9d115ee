"""Views of a gain, against numpy, scipy and made-up accuracies whose gain is known."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

from vanishing_variance.results.compare.gains import gain
from vanishing_variance.results.equal_attention import markdown, split
from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.statistics.log_odds import log_odds

LENGTHS = [16, 32, 64, 128, 256]
SEQUENCES = 512


def drawn(seed, shift=0.0, seeds=range(12), sequences=SEQUENCES):
    """Return accuracies in percent that fall with length, a row a seed."""
    rng = np.random.default_rng(seed)
    ability = 5 + rng.normal(0, 0.5, (len(seeds), 1)) + shift
    accuracy = rng.binomial(sequences, expit(ability - np.arange(5) * 1.2)) / sequences
    return pd.DataFrame(100 * accuracy, index=pd.Index(seeds, name="seed"), columns=LENGTHS)


def test_the_views_are_those_of_numpy_and_scipy():
    ours, theirs = drawn(0, 0.4), drawn(1)
    points, views = gain(ours, theirs, 16, SEQUENCES)
    treated, untreated = (arm.iloc[:, 1:].mean(axis=1).to_numpy() for arm in (ours, theirs))
    test = stats.ttest_rel(treated, untreated)
    assert (points.mean, points.p) == pytest.approx((treated.mean() - untreated.mean(), test.pvalue))

    odds = [log_odds(arm.to_numpy() / 100, SEQUENCES) for arm in (ours, theirs)]
    by_length = odds[0] - odds[1]
    assert views["log_odds"][0] == pytest.approx(by_length[:, 0].mean())
    assert views["log_odds_longest"][0] == pytest.approx(by_length[:, -1].mean())

    at_equal = adjusted(treated, untreated, odds[0][:, 0], odds[1][:, 0])
    np.testing.assert_allclose((views["at_baseline_accuracy"], views["at_own_accuracy"]), at_equal)


def test_only_common_seeds_count_and_without_a_length_of_training_there_are_points_alone():
    ours, theirs = drawn(0), drawn(1, seeds=range(4, 20))
    assert gain(ours, theirs, 16, SEQUENCES)[0].n == 8
    points, views = gain(ours, theirs, 8, SEQUENCES)
    assert points.n == 8
    assert np.isnan([views["log_odds"], views["at_own_accuracy"]]).all()


def beside():
    """Return accuracies that are half the target's weight; with ln higher by 10 points of it, and by 3 more."""
    rng = np.random.default_rng(0)
    models = itertools.product(["argmax"], ["short"], ("none", "ln"), range(9), (16, 64, 512))
    frame = pd.DataFrame(models, columns=["task", "range", "norm", "seed", "length"])
    ln = frame["norm"] == "ln"
    frame["target"] = rng.uniform(0.5, 0.6, len(frame)) + 0.1 * ln
    frame["accuracy"] = 0.5 * frame["target"] + 0.03 * ln + rng.normal(0, 1e-4, len(frame))
    frame.loc[frame["length"] == 16, "accuracy"] = 0.9
    return frame


def test_at_equal_attention_what_is_left_of_a_gain_is_what_the_weight_does_not_bring():
    frame = beside().sample(frac=1, random_state=0)
    [row] = split(frame[(frame["norm"] == "none") | (frame["seed"] > 0)], {"short": 16}).to_dict("records")
    assert (row["task"], row["range"], row["treatment"], row["n"]) == ("argmax", "short", "ln", 8)
    assert row["gain"] == pytest.approx(8, abs=1.5)
    for arm in ("at_baseline", "at_own"):
        assert row[arm] == pytest.approx(3, abs=0.1)
        assert row[f"{arm}_low"] < row[arm] < row[f"{arm}_high"]
    assert "| argmax, short, ln |   8 |" in markdown(pd.DataFrame([row]))
