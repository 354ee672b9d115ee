import pandas as pd

from vanishing_variance.results.accuracy import COLUMNS, pair


def test_a_pair_has_the_seeds_of_both_in_percent_at_the_lengths_beyond_training():
    """Of ln seed 2 is missing, of none seed 0; the rows are in any order."""
    cells = [
        ("argmax", "short", norm, seed, "plain", length, (100 * (norm == "ln") + 10 * seed + length) / 1000)
        for norm, lacks in (("ln", 2), ("none", 0))
        for seed in range(4)
        for length in (16, 32, 64)
        if seed != lacks
    ]
    frame = pd.DataFrame(cells, columns=COLUMNS).sample(frac=1, random_state=0)
    variants = ("argmax", "short", "ln", "none", "plain")
    ours, none = pair(frame, *variants, 16)
    expected = pd.DataFrame({32: [4.2, 6.2], 64: [7.4, 9.4]}, index=[1, 3])
    pd.testing.assert_frame_equal(none, expected, check_names=False)
    pd.testing.assert_frame_equal(ours, expected + 10, check_names=False)
    assert pair(frame, *variants)[1].columns.tolist() == [16, 32, 64]
    assert pair(frame, *variants, 64)[0].empty
    assert [len(of) for of in pair(frame.query("norm == 'none'"), *variants)] == [0, 0]
