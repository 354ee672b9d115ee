import itertools

import numpy as np
import pandas as pd
import pytest

from vanishing_variance.results.equal_attention import markdown, split


def beside(seeds=9):
    """Return accuracies that are half the target's weight; with ln higher by 10 points of it, and by 3 more."""
    rng = np.random.default_rng(0)
    models = itertools.product(["argmax"], ["short"], ("none", "ln"), range(seeds), (16, 64, 512))
    frame = pd.DataFrame(models, columns=["task", "range", "norm", "seed", "length"])
    ln = frame["norm"] == "ln"
    frame["target"] = rng.uniform(0.5, 0.6, len(frame)) + 0.1 * ln
    frame["accuracy"] = 0.5 * frame["target"] + 0.03 * ln + rng.normal(0, 1e-4, len(frame))
    frame.loc[frame["length"] == 16, "accuracy"] = 0.9
    return frame


def test_a_gain_is_split_into_what_the_weight_of_the_target_brings_and_what_is_left():
    frame = beside().sample(frac=1, random_state=0)
    [row] = split(frame[(frame["norm"] == "none") | (frame["seed"] > 0)], {"short": 16}).to_dict("records")
    assert (row["task"], row["range"], row["treatment"], row["n"]) == ("argmax", "short", "ln", 8)
    assert row["read_out"] == pytest.approx(3, abs=0.1)
    assert row["low"] < row["read_out"] < row["high"]
    assert row["attention"] + row["read_out"] == pytest.approx(row["gain"])
    assert row["attention"] == pytest.approx(5, abs=1.5)
    assert "| argmax, short, ln |   8 |" in markdown(pd.DataFrame([row]))


def test_without_a_baseline_or_with_one_seed_there_is_no_split():
    assert split(beside().query("norm == 'ln'"), {"short": 16}).empty
    [row] = split(beside(seeds=1), {"short": 16}).to_dict("records")
    assert np.isnan(row["read_out"])
    assert markdown(pd.DataFrame([row])).count("–") == 2
