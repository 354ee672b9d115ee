import pytest
from made_up_results import CLAIM, evidence

from vanishing_variance.core.errors import InputError
from vanishing_variance.report.readme import BEGIN, END, SHOWN, rewritten, table
from vanishing_variance.report.strongest import Evidence

COUNTS = (
    "3 verdicts on the paper's claims, most for each task: 1 supported, 1 contradicted, 1 undecided. The\n"
    "main ones, and all that are contradicted, after the paper's steps where no other are named:"
)
GAIN = ", +3.2 pp [+1.0, +5.5]; the paper: +1.8"


def shown():
    """Evidence for every claim that the README leads with."""
    return dict(zip(SHOWN, [*evidence().values()][: len(SHOWN)], strict=True))


def test_a_sentence_a_claim_between_the_markers_and_nothing_else_changes():
    text = rewritten(f"before\n\n{BEGIN}\n| old |\n{END}\nafter\n", shown())
    assert text.startswith(
        f"before\n\n{BEGIN}\n\n{COUNTS}\n\n"
        "- ln helps beyond the training lengths (Section 3.1, Table 1; n\u00a0=\u00a02): **supp"
    )
    assert text.endswith(f".\n\n{END}\nafter\n")
    assert text.count("\n- ") == len(SHOWN)
    assert max(map(len, text.splitlines())) <= 100
    assert rewritten(text, shown()) == text


def test_claims_of_the_papers_that_are_contradicted_follow_and_ours_do_not():
    against = {"claim": "Something else", "verdict": "contradicted"}
    others = {
        key: Evidence({**CLAIM, **against, "where": where}) for key, where in (("a", "B.1"), ("b", "ours, on B.1"))
    }
    text = " ".join(rewritten(BEGIN + END, shown() | others).split())
    assert text.count("Something else") == text.count("Something else (B.1; n = 2): **contradicted**") == 1
    assert "4 verdicts on the paper's claims, most for each task: 1 supported, 2 contradicted, 1 undecided. " in text


def test_a_sentence_has_the_gain_its_interval_and_the_papers():
    claim = {**CLAIM, "ours": 3.21, "low": 1.0, "high": 5.44, "paper": 2.0}
    text = " ".join(rewritten(BEGIN + END, dict.fromkeys(SHOWN, Evidence(claim))).split())
    assert f"; n = 2): **{CLAIM['verdict']}**, +3.2 pp [+1.0, +5.4]; the paper: +2.0." in text


def test_a_sentence_says_the_size_of_a_gain_where_it_is_judged():
    claim = {**CLAIM, "low": 1.0, "high": 5.5, "size": "compatible with the paper's"}
    for paper, said in ((2.0, " +2.0."), (None, ".")):
        found = Evidence({**claim, "paper": paper})
        text = " ".join(rewritten(BEGIN + END, dict.fromkeys(SHOWN, found)).split())
        assert f"+3.2 pp [+1.0, +5.5], compatible with the paper's{said}" in text


def test_a_row_a_claim():
    rows = [line.strip("| ").split(" | ") for line in table(evidence().values()).splitlines() if "Table 1" in line]
    claim = ["ln helps beyond the training lengths", "Section 3.1, Table 1"]
    assert rows[0] == [*claim, f"supported{GAIN}", "the paper's steps, n = 2"]
    assert [row[2] for row in rows] == [f"{found.claim['verdict']}{GAIN}" for found in evidence().values()]


def test_a_number_that_is_no_accuracy_stays_in_the_other_tables():
    found = Evidence({**CLAIM, "unit": "sd"})
    assert "| supported | the paper's steps, n = 2 |" in table([found])
    assert "**supported**." in rewritten(BEGIN + END, dict.fromkeys(SHOWN, found))


def test_the_size_of_a_gain_stands_behind_it():
    found = Evidence({**CLAIM, "size": "larger than the paper's"})
    assert "| supported, +3.2 pp [+1.0, +5.5], larger than the paper's +1.8 |" in table([found])


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN])
def test_a_readme_without_markers_is_left_alone(text):
    with pytest.raises(InputError, match=r"^README\.md: the lines <!-- verdicts: "):
        rewritten(text, {})
