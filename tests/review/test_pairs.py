import math

import pytest

from vanishing_variance.review.pairs import Pair, pairs, split


def test_within_a_file_the_largest_relative_changes_come_first():
    document = {
        "b.json": {
            "small": {"old": 100.0, "new": 101.0},
            "large": {"old": -1.0, "new": 1.0},
            "from_zero": {"old": 0, "new": 1e-9},
            "added": {"old": None, "new": 5},
        },
        "a.json": {"x": {"old": 1, "new": 2}},
    }
    found = pairs(document)
    assert [(pair.file, pair.key) for pair in found] == [
        ("a.json", "x"),
        *(("b.json", key) for key in ("added", "from_zero", "large", "small")),
    ]
    assert found[3].change == 2.0
    assert found[3].relative == 2.0
    assert found[1].change is None


def test_a_key_that_only_one_state_has_and_no_number_twice():
    assert pairs({"f": {"k": {"new": 1}}}) == [Pair("f", "k", None, 1)]
    assert pairs({"f": {"k": {"old": math.nan, "new": math.nan}}}) == []
    assert len(pairs({"f": {"k": {"old": math.nan, "new": 1.0}}})) == 1


@pytest.mark.parametrize(("before", "after"), [("a", "b"), (True, False), ([1], [2])])
def test_what_is_no_number_has_no_difference(before, after):
    assert Pair("f", "k", before, after).change is None


def test_every_file_shows_its_first_numbers_alike():
    found = [Pair(file, str(number), 0, 1) for file, most in (("a", 50), ("b", 3), ("c", 20)) for number in range(most)]
    shown, rest = split(found, 13)
    assert [(pair.file, pair.key) for pair in shown] == [
        *(("a", str(number)) for number in range(5)),
        *(("b", str(number)) for number in range(3)),
        *(("c", str(number)) for number in range(5)),
    ]
    assert len(rest) == len(found) - 13
    assert [pair for pair in found if pair in rest] == rest
    assert split(found[:3], 13) == (found[:3], [])
