from made_up_results import CLAIM, evidence

from vanishing_variance.report.strongest import Evidence
from vanishing_variance.report.verdicts import counts, verdicts


def one(point=None, **changes):
    return verdicts({"gain": Evidence({**CLAIM, **changes}, point)})[0]


def test_verdicts_keep_their_order_and_are_counted():
    made = verdicts(evidence())
    assert [row.verdict for row in made][:2] == ["supported", "contradicted"]
    assert counts(made) == [
        ("supported", "supported", 1),
        ("contradicted", "contradicted", 1),
        ("undecided", "undecided", 2),
        ("not comparable (undertrained)", "not-comparable", 1),
        ("not tested", "not-tested", 1),
    ]


def test_numbers_stand_in_their_unit():
    shown = one()
    assert (shown.ours, shown.interval, shown.paper) == ("+3.2 pp", "+1.0, +5.5", "+1.8 pp")
    assert one(unit="", ours=-0.99612).ours == "−0.996"
    assert one(unit="% of features", ours=99.44).ours == "99.4% of features"
    assert one(unit="nats", ours=0.5).ours == "0.5 nats"
    assert shown.rule == "supported where the interval lies above 0 at 2<sup>14</sup>"


def test_the_size_of_a_gain_stands_beside_the_verdict():
    assert one().size == ""
    larger = one(size="larger than the paper's")
    assert (larger.verdict, larger.size) == ("supported", "larger than the paper's")


def test_what_is_missing_is_a_dash():
    shown = one(ours=None, low=None, high=None, paper=None, n=None)
    assert (shown.ours, shown.interval, shown.paper) == ("–", "", "–")


def test_a_point_of_the_learning_curve_has_its_scale_and_number():
    assert one().point == ""
    few = {**CLAIM, "verdict": "undecided", "steps": {"argmax": 20_000}}
    assert one(few).point == "20,000 of 100,000 steps, n = 2: undecided, +3.2 pp [+1.0, +5.5]"
    assert one({**few, "ours": -0.04, "low": None}).point.endswith("undecided, 0.0 pp")
