"""Numbers of README.md and docs/results.md (tests/numbers_in_prose.py, tests/numbers.yaml)."""

import numbers_in_prose
import pytest
from numbers_in_prose import ROOT, entries_by_page, numbers_within, problems

ENTRIES = entries_by_page()
TABLE = """# A title, heading

| line  | gain (pp)         | share | n |
|:------|------------------:|------:|--:|
| a     | +1.2 [+0.7, +2.0] | 0.405 | 4 |
| **b** |                 – |     – | 3 |
"""
GAINS = {"words": "gains 1.2", "from": "some.md", "cells": ["a"], "columns": ["gain"]}


@pytest.fixture(autouse=True)
def some_table(monkeypatch):
    in_git = numbers_in_prose.in_git
    monkeypatch.setattr(numbers_in_prose, "in_git", lambda file: TABLE if file == "some.md" else in_git(file))


@pytest.mark.parametrize("page", ["README.md", "docs/results.md"])
def test_every_number_is_in_the_file_that_its_entry_names(page):
    assert list(problems((ROOT / page).read_text(), ENTRIES[page])) == []


@pytest.mark.parametrize("page", ENTRIES)
def test_any_other_digit_or_sign_of_any_number_is_reported(page):
    """In the words and on the page: in one of them alone the words do not stand there."""
    for entry in ENTRIES[page]:
        words = entry["words"]
        for number in numbers_within(words, 0, len(words)):
            for place in range(number.start(), number.end()):
                others = "0123456789" if words[place].isdigit() else ""
                if words[place] in "+−" and float(number[0].strip("+−%")) > 0:
                    others = "+−"
                for other in others.replace(words[place], ""):
                    wrong = words[:place] + other + words[place + 1 :]
                    assert len(list(problems(wrong, [entry | {"words": wrong}]))) == 1, wrong


@pytest.mark.parametrize(
    ("words", "cells", "column", "said"),
    [
        ("40.5% of", ["a"], "share", None),
        ("+1.2 [0.7, 2.0]", ["a"], "gain", None),
        ("1.2, 0.7", ["a"], "gain", "1.2"),  # a bound without its bracket
        ("[2.0, 0.7]", ["a"], "gain", "1.2 0.7 2"),  # in another order
        ("40.5", ["a"], "share", "0.405"),  # a share is no number of points
        ("no number", ["a"], "share", "0.405"),
        ("3 of", ["line b", "heading"], "n", None),
        ("3", ["line heading"], "n", "no such line"),
        ("| 4 | 3 |", [["a"], ["b"]], "n", None),
        ("| 3 | 4 |", [["a"], ["b"]], "n", "4 3"),
    ],
)
def test_words_have_the_numbers_of_their_lines_in_their_order(words, cells, column, said):
    entry = {"words": words, "from": "some.md", "cells": cells, "columns": [column]}
    assert list(problems(words, [entry])) == ([f'"{words}": some.md has {said}'] if said else [])


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("LN gains 1.2\n  points in 90%\nintervals, at 2^5, by `0.7`, 3 of [Table 4, 5](a.md)", []),
        ("it gains 1.2 points\n\n- [2, 5] of 4%", ["line 3: 2: in 0", "line 3: 5: in 0", "line 3: 4%: in 0"]),
        ("it gains 1.3 points", ['"gains 1.2": stands 0 times', "line 1: 1.3: in 0"]),
        ("gains 1.2, gains 1.2", ['"gains 1.2": stands 2 times', "line 1: 1.2: in 0", "line 1: 1.2: in 0"]),
    ],
)
def test_each_number_is_in_words_that_stand_once(page, said):
    for problem, beginning in zip(problems(page, [GAINS]), said, strict=True):
        assert problem.startswith(beginning)


def test_a_number_in_two_entries_is_reported():
    said = list(problems("it gains 1.2 points", [GAINS, GAINS | {"words": "1.2 points"}]))
    assert said == ["line 1: 1.2: in 2 entries of tests/numbers.yaml"]
