import pytest
from made_up_results import CLAIM, evidence

from vanishing_variance.harness.errors import InputError
from vanishing_variance.report.readme import BEGIN, END, SHOWN, rewritten
from vanishing_variance.report.strongest import Evidence


def test_the_verdicts_are_counted_and_stand_between_the_markers_and_nothing_else_changes():
    shown = dict(zip(SHOWN, evidence().values(), strict=False))
    against = {**CLAIM, "claim": "Something else", "verdict": "contradicted"}
    others = {where: Evidence({**against, "where": where}) for where in ("B.1", "ours, on B.1")}
    text = rewritten(f"before\n\n{BEGIN}\n| old |\n{END}\nafter\n", shown | others)
    assert text.startswith(f"before\n\n{BEGIN}\n")
    assert text.endswith(f"\n{END}\nafter\n")
    assert text.count("\n- ") == len(SHOWN) + 1  # of those that are contradicted, the paper's alone
    said = " ".join(text.split())
    assert "4 verdicts" in said
    assert "1 supported, 2 contradicted, 1 undecided" in said
    assert "**supported**, +3.2 pp [+1.0, +5.5]; the paper: +1.8." in said
    assert rewritten(text, shown | others) == text


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN])
def test_a_readme_without_markers_is_left_alone(text):
    with pytest.raises(InputError, match=r"^README\.md: the lines <!-- verdicts: "):
        rewritten(text, {})
