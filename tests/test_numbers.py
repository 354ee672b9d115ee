"""Numbers of README.md and docs/results.md (tests/numbers_in_prose.py)."""

import numbers_in_prose
import pytest
from numbers_in_prose import PAGES, ROOT, TOKEN, WRITTEN, numbers, problems

TABLES = {
    "studies/a.md": """# A title, heading

| line  | gain (pp)         | share | n |
|:------|------------------:|------:|--:|
| a     | +1.2 [+0.7, +2.0] | 0.405 | 4 |
| **b** |                 – |     – | 3.14 |
""",
    "studies/b.csv": "line,rule,gain,gain_low,gain_high\na,last,-1.16,-2.04,-0.31\nb,last,7.5,,\n",
    "metrics/c.json": '{"argmax": {"ln": {"exponent": -0.48, "n": 4}}, "verdict": "1.5 of 3"}',
}
LINK = "[board](../studies/a.md)"


@pytest.fixture
def tables(monkeypatch):
    numbers_in_prose.rows.cache_clear()
    monkeypatch.setattr(numbers_in_prose, "in_git", TABLES.get)
    yield
    numbers_in_prose.rows.cache_clear()


@pytest.mark.parametrize("page", PAGES)
def test_every_number_is_in_its_source(page):
    assert list(problems((ROOT / page).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("page", PAGES)
def test_hardly_a_number_with_another_digit_is_in_its_source(page):
    def with_another_digit(token):
        if not token["number"]:
            return token[0]
        last = max(place for place, sign in enumerate(token[0].partition("[")[0] or token[0]) if sign.isdigit())
        return f"{token[0][:last]}{(int(token[0][last]) + 3) % 10}{token[0][last + 1 :]}"

    text = WRITTEN.sub("", (ROOT / page).read_text(encoding="utf-8"))
    said = list(problems(TOKEN.sub(with_another_digit, text)))
    assert len(said) >= 0.8 * len(numbers(text)) >= 4


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("page", "without_source"),
    [
        (f"LN gains +1.2 [0.7,\n2.0] points {LINK} in 90%\nintervals, at 2^5, by `0.7`, 3 of [Table 4, 5](a.md)", []),
        (f"gains +1.3 [0.7, 2.0] {LINK}", ["+1.3 [0.7, 2.0]"]),
        (f"gains −1.2 [0.7, 2.0] {LINK}", ["−1.2 [0.7, 2.0]"]),
        (f"gains 0.7 [1.2, 2.0] {LINK}", ["0.7 [1.2, 2.0]"]),  # in another order
        (f"gains +1.2 [0.7, 2.0]\n## Next\n{LINK}", ["+1.2 [0.7, 2.0]"]),  # linked elsewhere
        (f"gains +1.2 {LINK}", ["+1.2"]),  # alone it needs its row
        ("gains 1.2, 0.7 <!-- studies/a.md: a | heading -->", ["0.7"]),  # a bound is no number of its own
        ("gains 1.2 and 40.5%, 3.1\n\n<!-- studies/a.md: a -->", ["1.2", "40.5%", "3.1"]),  # of another block
        ("gains 1.2 and 40.5%, 3.1 <!-- studies/a.md: a > gain | share;\nb > n -->", []),
        ("gains 1.2 and 40.5 <!-- studies/a.md: a > share -->", ["1.2", "40.5"]),  # another column; a share
        ("gains −1.2 [−2.0, −0.3], 7.5 <!-- studies/b.csv: a | last; b -->", []),
        ("−0.48 and −0.5; 1.5 <!-- metrics/c.json: argmax | ln > exponent -->", ["1.5"]),
        ("in [2, 5] of 4%", ["[2, 5]", "4%"]),
    ],
)
def test_a_number_has_a_source(page, without_source):
    assert [problem.split('"')[1] for problem in problems(page)] == without_source


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("named", ["studies/a.md: c", "studies/a.md: a > shares", "metrics/c.json: ln | dictionary"])
def test_a_comment_names_a_row(named):
    assert list(problems(f"1 of 2 <!-- {named} -->")) == [f"no row has {named}"]


def test_what_readme_says_is_in_the_section_that_its_paragraph_links():
    sections = (ROOT / "docs/results.md").read_text(encoding="utf-8").split("\n## ")
    [section] = [text for text in sections if text.startswith("On which tasks")]
    says, link = f"LN gains {numbers(section)[0]}", "[more](docs/results.md#on-which-tasks)"
    assert list(problems(f"{says} {link}")) == []
    assert len(list(problems(f"{says}\n\n{link}"))) == 1
