import pytest
from made_up_results import CLAIM, evidence

from vanishing_variance.core.errors import InputError
from vanishing_variance.report.readme import BEGIN, END, rewritten
from vanishing_variance.report.strongest import Evidence


def test_a_row_a_claim_between_the_markers_and_nothing_else_changes():
    text = rewritten(f"before\n\n{BEGIN}\n| old |\n{END}\nafter\n", evidence().values())
    assert text.startswith(f"before\n\n{BEGIN}\n\n| the claim | ")
    assert text.endswith(f" |\n\n{END}\nafter\n")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if "Table 1" in line]
    claim = ["ln helps beyond the training lengths", "Section 3.1, Table 1"]
    scale = "the paper's steps, n = 2"
    assert rows[0] == [*claim, "supported, +3.2 pp", scale, "-1.0 pp (10,000 of 100,000 steps, n = 2)"]
    assert [row[2] for row in rows[1:]] == [
        f"{found.claim['verdict']}, +3.2 pp" for found in [*evidence().values()][1:]
    ]
    assert rewritten(text, evidence().values()) == text


def test_a_number_that_is_no_accuracy_stays_in_the_other_tables():
    found = Evidence({**CLAIM, "unit": "sd"}, {**CLAIM, "unit": "sd"})
    assert "| supported | the paper's steps, n = 2 |  |" in rewritten(BEGIN + END, [found])


def test_the_size_of_a_gain_stands_behind_it():
    found = Evidence({**CLAIM, "size": "larger than the paper's"})
    assert "| supported, +3.2 pp, larger than the paper's |" in rewritten(BEGIN + END, [found])


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN])
def test_a_readme_without_markers_is_left_alone(text):
    with pytest.raises(InputError, match=r"^README\.md: the lines <!-- verdicts: "):
        rewritten(text, [])
