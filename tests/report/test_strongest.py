import pytest
from checkout import ROOT
from made_up_results import CLAIM

from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.report.strongest import Evidence, Study, strongest
from vanishing_variance.results.scale import changed

SUPPORTED, UNDECIDED = "supported", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable", "not tested"
PARAMS = read_yaml(ROOT / "params.yaml")
FEW, ENOUGH = {"argmax": 4_000}, {"argmax": 100_000}


def study(verdict, steps=FEW, n=8, sequences=512, **changes):
    """One claim; argmax trained for as many steps, and other parameters by dotted key."""
    changes = {"test.sequences": sequences, "tasks.argmax.steps.short": steps.get("argmax", 1), **changes}
    return Study({"gain": {**CLAIM, "verdict": verdict, "steps": steps, "n": n}}, changed(PARAMS, changes))


RECORD = study(SUPPORTED, ENOUGH, sequences=4096)


@pytest.mark.parametrize(
    ("run", "record", "leads", "beside"),
    [
        # what is comparable with the paper's, whatever it says
        (study(NOT_COMPARABLE, n=100, sequences=8192), RECORD, "record", True),
        (study(UNDECIDED), study(NOT_COMPARABLE, n=100, sequences=4096), "run", False),
        # what was tested
        (study(NOT_COMPARABLE), study(NOT_TESTED, ENOUGH, sequences=4096), "run", False),
        (study(NOT_TESTED), RECORD, "record", False),
        # the paper's steps, then more seeds, then more test sequences, then this run
        (study(UNDECIDED, n=100, sequences=8192), RECORD, "record", True),
        (study(UNDECIDED, ENOUGH, n=100), RECORD, "run", False),
        (study(UNDECIDED, ENOUGH, n=4, sequences=8192, seeds_per_block=4), RECORD, "record", False),
        (study(UNDECIDED, ENOUGH, sequences=4096), RECORD, "run", False),
        # the same models, tested on fewer sequences, are one result, not two
        (study(UNDECIDED, ENOUGH), RECORD, "record", False),
        (study(UNDECIDED, ENOUGH, **{"tasks.dictionary.training.embedding_width": 3}), RECORD, "record", False),
        (study(UNDECIDED, ENOUGH, seed=1), RECORD, "record", True),
        (study(UNDECIDED, ENOUGH, **{"training.weight_decay": 0.1}), RECORD, "record", True),
        # what rests on no trained models is this run's
        (study(UNDECIDED, {}, n=None), study(SUPPORTED, {}, n=None, sequences=4096), "run", False),
    ],
)
def test_the_stronger_evidence_leads_and_this_runs_stands_beside_it_if_it_trained_otherwise(run, record, leads, beside):
    ours, theirs = run.claims["gain"], record.claims["gain"]
    expected = Evidence(ours) if leads == "run" else Evidence(theirs, recorded=True, point=ours if beside else None)
    assert strongest(run, record) == {"gain": expected}


def test_a_claim_that_the_record_does_not_know_is_this_runs():
    run = study(UNDECIDED)
    assert strongest(run, Study({}, PARAMS)) == {"gain": Evidence(run.claims["gain"])}
