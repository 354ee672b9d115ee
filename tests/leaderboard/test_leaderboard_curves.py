import pandas as pd
import pytest
from made_up_board import LENGTHS, accuracies, make_board

from vanishing_variance.leaderboard.curves import COLUMNS, curves

MEANS = {"softmax": (0.99, 0.9, 0.8, 0.3), "ssmax": (0.99, 0.98, 0.95, 0.9)}
FRAMES = [
    accuracies(line, means, rule, task)
    for task in ("argmax", "dictionary")
    for line, means in MEANS.items()
    for rule in ("hard", "trained")
]


def test_every_line_rule_and_length_has_a_row_in_order():
    found = curves(pd.concat(FRAMES))
    assert tuple(found) == COLUMNS
    keys = [(task, line, rule) for task in ("argmax", "dictionary") for line in MEANS for rule in ("trained", "hard")]
    assert list(found[["task", "line", "rule", "length"]].itertuples(index=False, name=None)) == [
        (*key, length) for key in keys for length in LENGTHS
    ]
    assert (found["n"] == 6).all()


def test_the_numbers_are_those_of_the_board():
    board = make_board(*FRAMES, lines=list(MEANS)).set_index(["task", "line", "rule"])
    found = curves(pd.concat(FRAMES)).set_index(["task", "line", "rule"])
    for length in (16, 256, 16384):
        for name, end in (("mean", ""), ("low", "_low"), ("high", "_high")):
            expected = board[f"accuracy_{length}{end}"]
            ours = found.loc[found["length"] == length, name]
            assert ours.to_dict() == pytest.approx(expected.to_dict(), abs=1e-9)


def test_one_seed_has_no_interval():
    found = curves(accuracies("softmax", (1, 0.5, 0.25, 0), seeds=[3], spread=0))
    assert found["mean"].tolist() == [100, 50, 25, 0]
    assert (found["n"] == 1).all()
    assert found[["low", "high"]].isna().all(axis=None)


def test_nothing_tested_is_an_empty_table():
    assert tuple(curves(FRAMES[0].iloc[:0])) == COLUMNS
