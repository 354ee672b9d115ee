import itertools

import pandas as pd
import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.paths import Run
from vanishing_variance.results.accuracy import COLUMNS, gather, pair


def block(seeds, lengths=(16, 32)):
    rows = itertools.product(seeds, ("adaptive", "fitted", "plain"), lengths)
    return pd.DataFrame(rows, columns=["seed", "temperature", "length"]).assign(accuracy=0.5)


def test_gathered_results_are_tidy_and_an_incomplete_run_is_named():
    good, run = (Run("argmax", "short", "none", 0), block([0, 1])), Run("argmax", "short", "ln", 0)
    frame = gather([good, (run, block([0, 1]))], 2)
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 2 * 2 * 3 * 2
    for bad in (block([0]), block([0, 1], [16]), block([0, 1]).iloc[1:]):
        with pytest.raises(
            InputError, match=r"runs/evaluated/ln/short/argmax-0/accuracy\.parquet: does not hold 2 see"
        ):
            gather([good, (run, bad)], 2)


def test_a_pair_has_the_seeds_of_both_in_percent_at_the_lengths_beyond_training():
    """Of ln seed 2 is missing, of none seed 0; the rows are in any order."""
    rows = [
        ("argmax", "short", norm, seed, "plain", length, (100 * (norm == "ln") + 10 * seed + length) / 1000)
        for norm, lacks in (("ln", 2), ("none", 0))
        for seed in range(4)
        for length in (16, 32, 64)
        if seed != lacks
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS).sample(frac=1, random_state=0)
    variants = ("argmax", "short", "ln", "none", "plain")
    ours, none = pair(frame, *variants, 16)
    expected = pd.DataFrame({32: [4.2, 6.2], 64: [7.4, 9.4]}, index=[1, 3])
    pd.testing.assert_frame_equal(none, expected, check_names=False)
    pd.testing.assert_frame_equal(ours, expected + 10, check_names=False)
    assert pair(frame, *variants)[1].columns.tolist() == [16, 32, 64]
    assert pair(frame, *variants, 64)[0].empty
    assert [len(of) for of in pair(frame.query("norm == 'none'"), *variants)] == [0, 0]
