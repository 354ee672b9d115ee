import numpy as np
import pandas as pd
import pytest

from vanishing_variance.analysis.results import COLUMNS, beyond_training, by_seed, gather, polynomials
from vanishing_variance.errors import InputError
from vanishing_variance.paths import Run
from vanishing_variance.study import expected

LENGTHS = [16, 32]


def block(seeds, lengths=LENGTHS, shift=0.0):
    rng = np.random.default_rng(7)
    rows = [
        (seed, temperature, length, rng.uniform(0.3, 0.9) + shift)
        for seed in seeds
        for temperature in ("adaptive", "fitted", "plain")
        for length in lengths
    ]
    return pd.DataFrame(rows, columns=["seed", "temperature", "length", "accuracy"])


def test_a_study_is_the_papers_normalisers_and_the_treatment():
    assert [str(run) for run in expected("ln", [0])] == [
        *("argmax-short-none-0", "argmax-short-std-0", "argmax-short-ln-0"),
        *("argmax-long-none-0", "argmax-long-ln-0"),
        *("dictionary-short-none-0", "dictionary-short-std-0", "dictionary-short-ln-0"),
        *("dictionary-long-none-0", "dictionary-long-ln-0"),
    ]
    assert len(expected("rms", [0, 1])) == 24


def test_gathered_results_are_tidy():
    runs = [Run("argmax", "short", norm, number) for norm in ("none", "ln") for number in (0, 1)]
    frame = gather([(run, block([2 * run.block, 2 * run.block + 1])) for run in runs], 2)
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 2 * 4 * 3 * 2
    assert set(frame["seed"]) == {0, 1, 2, 3}


@pytest.mark.parametrize("bad", [block([0]), block([0, 1], [16]), block([0, 1]).iloc[1:]])
def test_an_incomplete_run_is_named(bad):
    good, run = (Run("argmax", "short", "none", 0), block([0, 1])), Run("argmax", "short", "ln", 0)
    with pytest.raises(InputError, match=r"runs/accuracy/ln/short/argmax-0\.parquet: does not hold 2 seeds"):
        gather([good, (run, bad)], 2)


def test_lengths_beyond_training_are_averaged_for_each_seed():
    frame = gather([(Run("argmax", "short", "none", 0), block(range(3), lengths=[16, 32, 64]))], 3)
    wide = by_seed(frame, "argmax", "short", "none", "plain")
    found = beyond_training(frame.sample(frac=1, random_state=0), "argmax", "short", "none", "plain", 16)
    assert found.index.tolist() == [0, 1, 2]
    assert found.tolist() == pytest.approx(wide[[32, 64]].mean(axis=1).tolist())
    assert beyond_training(frame, "argmax", "short", "none", "plain", 64).empty


def test_a_fitted_temperature_is_a_row_with_a_coefficient_a_power():
    run = vars(Run("argmax", "long", "ln", 0))
    full = {"polynomial": [4.0, 3.0, 2.0, 1.0, 0.5], "lowest": 0.6, "highest": 7.0, "mistakes": 90}
    flat = {"polynomial": [1.0], "lowest": 0.0, "highest": 0.0, "mistakes": 2}
    frame = polynomials([{**run, "half": "first", **full}, {**run, "half": "second", **flat}])
    assert frame["half"].tolist() == ["first", "second"]
    assert frame.loc[0, ["p4", "p1", "p0", "highest"]].tolist() == [4.0, 1.0, 0.5, 7.0]
    assert frame.loc[1, "p0"] == 1.0
    assert frame.loc[1, ["p4", "p3", "p2", "p1"]].isna().all()
