import copy

import pytest
import yaml
from made_up_results import CLAIM, ROOT

from vanishing_variance.report.strongest import Evidence, Study, scale, strongest

SUPPORTED, CONTRADICTED, UNDECIDED = "supported", "contradicted", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable", "not tested"
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text())
FEW, ENOUGH = {"argmax": 4_000}, {"argmax": 100_000}


def study(verdict, steps=FEW, n=8, sequences=512, **changes):
    """One claim; argmax trained for as many steps, and other parameters by dotted key."""
    params = copy.deepcopy(PARAMS)
    values = {"test.sequences": sequences, "tasks.argmax.steps.short": steps.get("argmax", 1), **changes}
    for key, value in values.items():
        *sections, last = key.split(".")
        section = params
        for name in sections:
            section = section[name]
        section[last] = value
    return Study({"gain": {**CLAIM, "verdict": verdict, "steps": steps, "n": n}}, params)


def both(run, record):
    """The evidence that leads, `run` or `record`, and whether this run's stands beside it."""
    found = strongest(run, record)["gain"]
    assert found.recorded == (found.claim is record.claims["gain"])
    return "record" if found.recorded else "run", found.point is run.claims["gain"]


RECORD = study(SUPPORTED, ENOUGH, sequences=4096)


@pytest.mark.parametrize("verdict", [SUPPORTED, CONTRADICTED, UNDECIDED])
def test_the_record_leads_where_this_run_is_behind_the_papers_whatever_it_says(verdict):
    record = study(verdict, ENOUGH, sequences=4096)
    assert both(study(NOT_COMPARABLE, n=100, sequences=8192), record) == ("record", True)


def test_this_run_leads_where_the_record_was_not_tested_or_is_behind_itself():
    assert both(study(NOT_COMPARABLE), study(NOT_TESTED, ENOUGH, sequences=4096)) == ("run", False)
    assert both(study(UNDECIDED), study(NOT_COMPARABLE, n=100, sequences=4096)) == ("run", False)
    assert both(study(NOT_TESTED), RECORD) == ("record", False)


def test_where_neither_is_comparable_the_papers_steps_lead_and_then_more_seeds():
    few, enough = study(NOT_COMPARABLE, n=100, sequences=8192), study(NOT_COMPARABLE, ENOUGH, sequences=4096)
    assert both(few, enough) == ("record", True)
    assert both(enough, few) == ("run", False)
    assert both(study(NOT_COMPARABLE, n=4), few) == ("record", False)


def test_more_seeds_lead_and_then_more_test_sequences_and_then_this_run():
    assert both(study(CONTRADICTED, ENOUGH, n=100), RECORD) == ("run", False)
    assert both(study(CONTRADICTED, ENOUGH, sequences=8192), RECORD) == ("run", False)
    assert both(study(CONTRADICTED, ENOUGH, sequences=4096), RECORD) == ("run", False)
    assert both(study(CONTRADICTED, ENOUGH, n=4, sequences=8192, seeds_per_block=4), RECORD) == ("record", False)


def test_the_same_models_are_one_result_not_two():
    """Tested on fewer sequences; another task's training, and another range's steps, are nothing to the claim."""
    assert both(study(UNDECIDED, ENOUGH), RECORD) == ("record", False)
    for key in ("tasks.dictionary.training.embedding_width", "tasks.argmax.steps.long"):
        assert both(study(UNDECIDED, ENOUGH, **{key: 3}), RECORD) == ("record", False)
    assert both(study(UNDECIDED, ENOUGH, blocks=[0, 7]), RECORD) == ("record", False)
    for key, value in (("seed", 1), ("model.initialisation", "lecun"), ("training.weight_decay", 0.1)):
        assert both(study(UNDECIDED, ENOUGH, **{key: value}), RECORD) == ("record", True)


def test_what_rests_on_no_trained_models_is_this_runs():
    assert both(study(UNDECIDED, {}, n=None), study(SUPPORTED, {}, n=None, sequences=4096)) == ("run", False)


def test_a_claim_that_the_record_does_not_know_is_this_runs():
    run = study(UNDECIDED)
    assert strongest(run, Study({}, PARAMS)) == {"gain": Evidence(run.claims["gain"])}


@pytest.mark.parametrize(
    ("steps", "n", "said"),
    [
        ({"argmax": 4_000}, 8, "4,000 of the paper's 100,000 steps, n = 8"),
        ({"argmax": 100_000}, 8, "the paper's steps, n = 8"),
        ({"argmax": 4_000, "dictionary": 10_000}, 8, "argmax 4,000 of the paper's 100,000 steps, n = 8"),
        (
            {"argmax": 4_000, "dictionary": 30},
            2,
            "argmax 4,000 of the paper's 100,000 steps, dictionary 30 of the paper's 10,000 steps, n = 2",
        ),
        ({"argmax": 100_000, "dictionary": 10_000}, None, "the paper's steps"),
        ({"argmax": 100_000, "dictionary": 10_000}, 1, "the paper's steps, one model of each task and variant"),
        ({"argmax": 100_000}, 1, "the paper's steps, one model"),
        ({"dictionary": 100_000}, 16, "100,000 steps (B.1: 10,000), n = 16"),
        ({}, None, "a pretrained model"),
    ],
)
def test_the_scale_is_steps_beside_the_papers_and_seeds(steps, n, said):
    assert scale({**CLAIM, "steps": steps, "n": n}) == said


def test_a_baseline_below_the_papers_stands_beside_the_papers_steps():
    claim = {**CLAIM, "verdict": NOT_COMPARABLE, "steps": {"argmax": 100_000}, "n": 8}
    assert scale(claim) == "the paper's steps, baseline below the paper's, n = 8"
    claim = {**claim, "steps": {"dictionary": 100_000}}
    assert scale(claim) == "100,000 steps (B.1: 10,000), baseline below the paper's, n = 8"
    claim = {**claim, "steps": {"dictionary": 5_000}}
    assert scale(claim) == "5,000 of the paper's 10,000 steps, n = 8"


def test_what_was_not_tested_has_no_scale():
    assert scale({**CLAIM, "verdict": NOT_TESTED, "steps": {"argmax": 4_000}}) == ""
