"""Numbers of README.md and docs/results.md (tests/numbers_in_prose.py)."""

import numbers_in_prose
import pytest
from numbers_in_prose import PAGES, ROOT, problems, tagged

TEXTS = {name: (ROOT / name).read_text() for name in PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_every_number_is_in_the_file_that_its_tag_names(name):
    assert list(problems(TEXTS[name])) == []


@pytest.mark.parametrize("name", PAGES)
def test_any_other_digit_or_sign_of_any_number_is_reported(name):
    """With no more of the page than the number's tag vouches for, which is the same and takes seconds."""
    page = TEXTS[name]
    for tag, numbers in tagged(page):
        start, end = numbers[0].start(), tag.end()
        for number in numbers:
            for place in range(number.start(), number.end()):
                others = "0123456789" if page[place].isdigit() else ""
                if page[place] in "+−" and float(number[0].strip("+−%")) > 0:
                    others = "+−"
                for other in others.replace(page[place], ""):
                    wrong = page[start:place] + other + page[place + 1 : end]
                    assert len(list(problems(wrong))) == 1, wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("40.5% <!-- some.md: a -> share -->", []),
        ("+1.2 [0.7, 2.0]<!-- some.md: a -> gain -->", []),
        ("1.2, 0.7<!-- some.md: a -> gain -->", ["1.2 0.7"]),  # a bound without its bracket
        ("[2.0, 0.7]<!-- some.md: a -> gain -->", ["2.0 0.7"]),  # in another order
        ("40.5<!-- some.md: a -> share -->", ["40.5"]),  # a share is no number of points
        ("no<!-- some.md: a -> share -->", ["no number"]),
        ("3<!-- some.md: b, heading -> n --> of 16, 2^5 and `0.7`", []),
        ("3<!-- some.md: line b -> n -->", []),
        ("3<!-- some.md: line heading -> n -->", ["3"]),
        ("3<!-- none.json: b -> n -->", ["3"]),  # no such file
        ("0.405<!-- some.md: a -> share -->\n- 0.405", ["0.405"]),  # a tag is of one paragraph
        ("90% intervals", []),
    ],
)
def test_a_tag_vouches_for_the_numbers_of_its_line_in_their_order(monkeypatch, text, said):
    table = """# A title, heading

| line  | gain (pp)         | share | n |
|:------|------------------:|------:|--:|
| a     | +1.2 [+0.7, +2.0] | 0.405 | 4 |
| **b** |                 – |     – | 3 |
"""
    monkeypatch.setattr(numbers_in_prose, "in_git", {"some.md": table, "none.json": ""}.get)
    assert [problem.split(": ")[1] for problem in problems(text)] == said
