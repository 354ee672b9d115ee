import numpy as np
import pandas as pd
import pytest

from vanishing_variance.core.errors import InputError
from vanishing_variance.core.paths import Run
from vanishing_variance.study.results import COLUMNS, by_seed, gather, pair
from vanishing_variance.study.runs import expected

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
    with pytest.raises(InputError, match=r"runs/evaluated/ln/short/argmax-0/accuracy\.parquet: does not hold 2 seeds"):
        gather([good, (run, bad)], 2)


def test_a_pair_has_the_seeds_of_both_at_the_lengths_beyond_training():
    blocks = [(Run("argmax", "short", norm, 0), block(range(3), lengths=[16, 32, 64])) for norm in ("none", "ln")]
    frame = gather(blocks, 3).query("norm == 'none' or seed > 0")
    variants = ("argmax", "short", "ln", "none", "plain")
    ours, none = pair(frame.sample(frac=1, random_state=0), *variants, 16)
    assert none.index.tolist() == ours.index.tolist() == [1, 2]
    pd.testing.assert_frame_equal(none, by_seed(frame, "argmax", "short", "none", "plain").loc[[1, 2], [32, 64]])
    assert pair(frame, *variants, 64)[0].empty
    assert [len(of) for of in pair(frame.query("norm == 'none'"), *variants)] == [0, 0]
