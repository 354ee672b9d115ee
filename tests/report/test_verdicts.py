from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from made_up_results import CLAIM

from vanishing_variance.harness.errors import InputError
from vanishing_variance.report.readme import BEGIN, END, answer, rewritten
from vanishing_variance.report.strongest import Evidence, Judged, strongest
from vanishing_variance.results.answer import BEYOND, TREATMENTS
from vanishing_variance.results.runs import TASKS

SUPPORTED, UNDECIDED = "supported", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable", "not tested"
FEW, ENOUGH = {"argmax": 4_000}, {"argmax": 100_000}


def study(verdict, steps=FEW, n=8, sequences=512):
    """Return one claim, of models trained for as many steps."""
    claim = {**CLAIM, "verdict": verdict, "steps": steps, "n": n}
    network = {"attention": "softmax", "network": "paper", "network_options": {}, "model": {"width": 128}}
    return Judged({"gain": claim}, network | {"test": {"sequences": sequences}})


AT_SCALE = study(SUPPORTED, ENOUGH, sequences=4096)


@pytest.mark.parametrize(
    ("run", "paper_scale", "leads"),
    [
        # what is comparable with the paper's, whatever it says
        (study(NOT_COMPARABLE, n=100, sequences=8192), AT_SCALE, "study"),
        (study(UNDECIDED), study(NOT_COMPARABLE, n=100, sequences=4096), "run"),
        # what was tested
        (study(NOT_COMPARABLE), study(NOT_TESTED, ENOUGH, sequences=4096), "run"),
        (study(NOT_TESTED), AT_SCALE, "study"),
        (study(NOT_TESTED, {}, n=None), AT_SCALE, "study"),
        # the paper's steps, then more seeds, then more test sequences, then this run
        (study(UNDECIDED, n=100, sequences=8192), AT_SCALE, "study"),
        (study(UNDECIDED, ENOUGH, n=100), AT_SCALE, "run"),
        (study(UNDECIDED, ENOUGH, n=4, sequences=8192), AT_SCALE, "study"),
        (study(UNDECIDED, ENOUGH, sequences=4096), AT_SCALE, "run"),
        (study(UNDECIDED, ENOUGH), AT_SCALE, "study"),
        # what rests on no trained models is this run's
        (study(UNDECIDED, {}, n=None), study(SUPPORTED, {}, n=None, sequences=4096), "run"),
        # and what the study does not know
        (study(UNDECIDED), replace(AT_SCALE, claims={}), "run"),
        # and what is of another network
        (replace(study(UNDECIDED), params=AT_SCALE.params | {"attention": "power"}), AT_SCALE, "run"),
        (replace(study(UNDECIDED), params=AT_SCALE.params | {"network": "transformer"}), AT_SCALE, "run"),
    ],
)
def test_the_stronger_evidence_leads_and_this_runs_stands_beside_it(run, paper_scale, leads):
    ours = run.claims["gain"]
    expected = Evidence(ours) if leads == "run" else Evidence(paper_scale.claims["gain"], weaker=ours)
    assert strongest(run, paper_scale) == {"gain": expected}


def test_nothing_but_the_block_changes():
    text = rewritten(f"before\n\n{BEGIN}\n| old |\n{END}\nafter\n", "new")
    assert text == f"before\n\n{BEGIN}\nnew\n{END}\nafter\n"


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN])
def test_a_readme_without_markers_is_left_alone(text):
    with pytest.raises(InputError, match=rf"^README\.md: the lines {BEGIN}"):
        rewritten(text, "")


def test_of_one_seed_the_readme_has_a_mean_alone():
    names = [treatment.name for treatment in TREATMENTS]
    cells = pd.DataFrame(product(names, TASKS, (BEYOND, 64)), columns=["treatment", "task", "length"])
    means = cells.assign(paper=np.nan, n=1, mean=50.0, low=np.nan, high=np.nan)
    [none] = [line for line in answer(means, [CLAIM]).splitlines() if line.startswith("| none ")]
    assert none.replace("|", "").split() == ["none", *["50.0"] * 4, "1"]
