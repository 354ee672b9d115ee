import pytest
from made_up_results import CLAIM

from vanishing_variance.report.strongest import Evidence, Study, strongest

SUPPORTED, UNDECIDED = "supported", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable", "not tested"
FEW, ENOUGH = {"argmax": 4_000}, {"argmax": 100_000}


def study(verdict, steps=FEW, n=8, sequences=512):
    """One claim, of models trained for as many steps."""
    claim = {**CLAIM, "verdict": verdict, "steps": steps, "n": n}
    return Study({"gain": claim}, {"test": {"sequences": sequences}})


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
        # the paper's steps, then more seeds, then more test sequences, then this run
        (study(UNDECIDED, n=100, sequences=8192), RECORD, "record"),
        (study(UNDECIDED, ENOUGH, n=100), RECORD, "run"),
        (study(UNDECIDED, ENOUGH, n=4, sequences=8192), RECORD, "record"),
        (study(UNDECIDED, ENOUGH, sequences=4096), RECORD, "run"),
        (study(UNDECIDED, ENOUGH), RECORD, "record"),
        # what rests on no trained models is this run's
        (study(UNDECIDED, {}, n=None), study(SUPPORTED, {}, n=None, sequences=4096), "run"),
    ],
)
def test_the_stronger_evidence_leads_and_this_runs_stands_beside_it(run, record, leads):
    ours, theirs = run.claims["gain"], record.claims["gain"]
    expected = Evidence(ours) if leads == "run" else Evidence(theirs, weaker=ours)
    assert strongest(run, record) == {"gain": expected}


def test_a_claim_that_the_record_does_not_know_is_this_runs():
    run = study(UNDECIDED)
    assert strongest(run, Study({}, {})) == {"gain": Evidence(run.claims["gain"])}
