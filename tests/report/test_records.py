from dataclasses import replace

import pandas as pd
from made_up_results import CLAIM, ROOT

from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.report.records import Record, table
from vanishing_variance.report.strongest import Study
from vanishing_variance.study.scale import changed as changed_document
from vanishing_variance.study.verdict import NOT_TESTED

PARAMS = read_yaml(ROOT / "params.yaml")


def kept(claims=None, params=PARAMS, away=(1.0, -3.0)):
    cells = [(1, of) for of in away] + [(2, None)]
    return Record(
        Study(
            claims or {"argmax": CLAIM, "convergence-ln": {**CLAIM, "unit": "%"}, "attribution-argmax": CLAIM}, params
        ),
        pd.DataFrame(),
        pd.DataFrame(cells, columns=["table", "difference"]).astype({"difference": float}),
        {},
        [],
    )


def texts(of):
    return {heading: [(name, [cell.text for cell in cells]) for name, cells in rows] for heading, rows in of.groups}


def test_gains_and_distances_stand_beside_each_other_and_the_papers():
    other = kept(
        {"argmax": {**CLAIM, "ours": -1.0, "low": -2.0, "high": 0.5, "verdict": "undecided", "n": 32}}, away=(0.4,)
    )
    found = table({"lead": kept(), "other": other})
    assert list(found.head) == ["lead", "other", "paper’s"]
    gain, away = texts(found).values()
    assert gain == [
        (
            "ln is ahead of none, argmax",
            ["+3.2 [+1.0, +5.5], n = 2: supported", "−1.0 [−2.0, +0.5], n = 32: undecided", "+1.8"],
        )
    ]
    assert away == [("Table 1", ["2.0", "0.4", ""]), ("Table 2", ["–", "–", ""]), ("Table 3", ["–", "–", ""])]


def test_a_gain_that_a_record_does_not_have_is_a_dash():
    without = [kept({"argmax": {**CLAIM, "verdict": NOT_TESTED, "ours": None}}), kept({"dictionary": CLAIM})]
    for one in without:
        assert texts(table({"lead": kept(), "other": one}))["accuracy"][0][1][1] == "–"


def test_the_note_says_which_parameters_differ_and_no_others():
    model = {**PARAMS["model"], "scaled_logits": not PARAMS["model"]["scaled_logits"]}
    training = {**PARAMS["training"], "seeds_per_process": 3}
    changed = {
        **PARAMS,
        "model": model,
        "test": {**PARAMS["test"], "sequences": 1},
        "blocks": [7],
        "training": training,
    }
    found = table({"lead": kept(), "other": kept(params=changed)})
    now, then = (str(value).lower() for value in (model["scaled_logits"], PARAMS["model"]["scaled_logits"]))
    assert found.note.endswith(f" Unlike lead, other has model.scaled_logits {now} instead of {then}.")
    longer = changed_document(PARAMS, {"tasks.argmax.steps.short": 7, "tasks.argmax.steps.long": 8})
    steps = PARAMS["tasks"]["argmax"]["steps"]["short"]
    found = table({"lead": kept(), "other": kept(params=longer)})
    assert found.note.endswith(f" Unlike lead, other has tasks.argmax.steps.short 7 instead of {steps}.")
    same = table({"lead": kept(), "other": replace(kept())})
    assert same.note.endswith("other has the same parameters.")
