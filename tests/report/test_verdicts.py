import pytest
from made_up_results import CLAIM, evidence

from vanishing_variance.report.strongest import Evidence
from vanishing_variance.report.verdicts import SYMBOLS, board, counts, line
from vanishing_variance.study.verdict import VERDICTS


def one(point=None, **changes):
    return line("gain", Evidence({**CLAIM, **changes}, point=point))


def test_verdicts_are_counted():
    assert [(mark.verdict, mark.kind, count) for mark, count in counts(evidence())] == [
        ("supported", "supported", 2),
        ("contradicted", "contradicted", 1),
        ("undecided", "undecided", 2),
        ("not comparable", "not-comparable", 1),
        ("not tested", "not-tested", 1),
    ]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_no_two_marks_share_a_symbol(verdict):
    assert [of for of, symbol in SYMBOLS.items() if symbol == one(verdict=verdict)["mark"].symbol] == [verdict]


def test_every_claim_is_in_one_group_of_the_board():
    groups = board(evidence())
    assert [(name, [of["key"] for of in lines]) for name, _, lines in groups] == [
        ("variance", ["vanishing"]),
        ("accuracy", ["argmax", "dictionary"]),
        ("mechanism", ["capacity"]),
        ("cause", ["cause-moments-dictionary", "cause-moments-argmax"]),
        ("other", ["own-claim"]),
    ]


def test_numbers_stand_beside_their_unit():
    shown = one()
    assert (shown["ours"], shown["interval"], shown["paper"], shown["unit"]) == ("+3.2", "[+1.0, +5.5]", "+1.8", "pp")
    assert one(unit="", ours=-0.99612)["ours"] == "−0.996"
    shown = one(unit="% of features", ours=99.44)
    assert (shown["ours"], shown["unit"]) == ("99.4", "% of features")


def test_the_size_of_a_gain_stands_beside_the_verdict():
    assert one()["size"] == ""
    larger = one(size="larger than the paper's")
    assert (larger["mark"].verdict, larger["size"]) == ("supported", "larger than the paper's")


def test_what_is_missing_is_a_dash():
    shown = one(ours=None, low=None, high=None, paper=None, n=None)
    assert (shown["ours"], shown["interval"], shown["paper"], shown["unit"]) == ("–", "", "–", "")


def test_a_point_of_the_learning_curve_has_its_scale_and_number():
    assert one()["point"] == ""
    few = {**CLAIM, "verdict": "undecided", "steps": {"argmax": 20_000}}
    assert one(few)["point"] == "20,000 of the paper's 100,000 steps, n = 2: undecided, +3.2 pp [+1.0, +5.5]"
    assert one({**few, "ours": -0.04, "low": None})["point"].endswith("undecided, 0.0 pp")
