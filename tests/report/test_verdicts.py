from dataclasses import replace

import pytest
from made_up_results import CLAIM, claims

from vanishing_variance.harness.errors import InputError
from vanishing_variance.report.readme import BEGIN, END, rewritten
from vanishing_variance.report.strongest import Evidence, Study, strongest

SUPPORTED, UNDECIDED = "supported", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable", "not tested"
FEW, ENOUGH = {"argmax": 4_000}, {"argmax": 100_000}


def study(verdict, steps=FEW, n=8, sequences=512):
    """Return one claim, of models trained for as many steps."""
    claim = {**CLAIM, "verdict": verdict, "steps": steps, "n": n}
    return Study({"gain": claim}, {"attention": "softmax", "model": {"width": 128}, "test": {"sequences": sequences}})


RECORD = study(SUPPORTED, ENOUGH, sequences=4096)


@pytest.mark.parametrize(
    ("run", "record", "leads"),
    [
        # what is comparable with the paper's, whatever it says
        (study(NOT_COMPARABLE, n=100, sequences=8192), RECORD, "record"),
        (study(UNDECIDED), study(NOT_COMPARABLE, n=100, sequences=4096), "run"),
        # what was tested
        (study(NOT_COMPARABLE), study(NOT_TESTED, ENOUGH, sequences=4096), "run"),
        (study(NOT_TESTED), RECORD, "record"),
        (study(NOT_TESTED, {}, n=None), RECORD, "record"),
        # the paper's steps, then more seeds, then more test sequences, then this run
        (study(UNDECIDED, n=100, sequences=8192), RECORD, "record"),
        (study(UNDECIDED, ENOUGH, n=100), RECORD, "run"),
        (study(UNDECIDED, ENOUGH, n=4, sequences=8192), RECORD, "record"),
        (study(UNDECIDED, ENOUGH, sequences=4096), RECORD, "run"),
        (study(UNDECIDED, ENOUGH), RECORD, "record"),
        # what rests on no trained models is this run's
        (study(UNDECIDED, {}, n=None), study(SUPPORTED, {}, n=None, sequences=4096), "run"),
        # and what the record does not know
        (study(UNDECIDED), replace(RECORD, claims={}), "run"),
        # and what is of another network
        (replace(study(UNDECIDED), params=RECORD.params | {"attention": "power"}), RECORD, "run"),
    ],
)
def test_the_stronger_evidence_leads_and_this_runs_stands_beside_it(run, record, leads):
    ours = run.claims["gain"]
    expected = Evidence(ours) if leads == "run" else Evidence(record.claims["gain"], weaker=ours)
    assert strongest(run, record) == {"gain": expected}


@pytest.fixture
def evidence():
    """Claims of every verdict, one more of the paper's that is contradicted, and one of ours."""
    found = {key: Evidence(claim) for key, claim in claims().items()}
    for where in ("B.1", "ours, on B.1"):
        found[where] = Evidence({**CLAIM, "claim": "Something else", "verdict": "contradicted", "where": where})
    return found


def test_the_verdicts_stand_between_the_markers(evidence):
    text = rewritten(f"{BEGIN}\n{END}\n", evidence)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    verdicts = [row[2] for row in rows]
    assert verdicts == [
        "**contradicted**",
        "**supported**",
        "**undecided**",
        "**contradicted**",
        "1 supported, 2 contradicted, 1 undecided, 1 not comparable, 1 not tested",
    ]
    assert rows[1][3:] == ["+3.2 [−1.0, +5.5] pp", "+1.8", "2"]
    assert rows[3][1] == "B.1"


def test_nothing_else_changes(evidence):
    text = rewritten(f"before\n\n{BEGIN}\n| old |\n{END}\nafter\n", evidence)
    assert text.startswith(f"before\n\n{BEGIN}\n")
    assert text.endswith(f"\n{END}\nafter\n")
    assert "old" not in text
    assert rewritten(text, evidence) == text


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN])
def test_a_readme_without_markers_is_left_alone(text):
    with pytest.raises(InputError, match=r"^README\.md: the lines <!-- verdicts: "):
        rewritten(text, {})
