import pytest
from made_up_results import CLAIM, claims

from vanishing_variance.harness.errors import InputError
from vanishing_variance.report.readme import BEGIN, END, SHOWN, rewritten
from vanishing_variance.report.strongest import Evidence


def test_the_verdicts_stand_between_the_markers_and_nothing_else_changes():
    against = {**CLAIM, "claim": "Something else", "verdict": "contradicted"}
    others = {where: {**against, "where": where} for where in ("B.1", "ours, on B.1")}
    evidence = {key: Evidence(claim) for key, claim in {**claims(), **others}.items()}
    text = rewritten(f"before\n\n{BEGIN}\n| old |\n{END}\nafter\n", evidence)
    assert text.startswith(f"before\n\n{BEGIN}\n")
    assert text.endswith(f"\n{END}\nafter\n")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")][2:]
    assert [row[2] for row in rows[: len(SHOWN)]] == ["**contradicted**", "**supported**", "**undecided**"]
    assert rows[1][3:] == ["+3.2 [−1.0, +5.5] pp", "+1.8", "2"]
    assert [row[1] for row in rows[len(SHOWN) :]] == ["B.1", ""]  # of those that are contradicted, the paper's alone
    assert rows[-1][2] == "1 supported, 2 contradicted, 1 undecided, 1 not comparable, 1 not tested"
    assert rewritten(text, evidence) == text


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN])
def test_a_readme_without_markers_is_left_alone(text):
    with pytest.raises(InputError, match=r"^README\.md: the lines <!-- verdicts: "):
        rewritten(text, {})
