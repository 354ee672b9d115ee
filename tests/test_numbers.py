"""Numbers of README.md and docs/results.md (tests/numbers_in_prose.py)."""

import pytest
from numbers_in_prose import PAGES, ROOT, TOKEN, WRITTEN, numbers, problems


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


def test_what_readme_says_is_in_the_section_that_its_paragraph_links():
    sections = (ROOT / "docs/results.md").read_text(encoding="utf-8").split("\n## ")
    [section] = [text for text in sections if text.startswith("On which tasks")]
    says, link = f"LN gains {numbers(section)[0]}", "[more](docs/results.md#on-which-tasks)"
    assert list(problems(f"{says} {link}")) == []
    assert len(list(problems(f"{says}\n\n{link}"))) == 1
