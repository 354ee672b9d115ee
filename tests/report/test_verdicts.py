import pytest
from made_up_results import CLAIM, claims

from vanishing_variance.errors import InputError
from vanishing_variance.report.verdicts import counts, verdicts


def one(**changes):
    return verdicts({"gain": {**CLAIM, **changes}})[0]


def test_verdicts_keep_their_order_and_are_counted():
    made = verdicts(claims())
    assert [row.verdict for row in made][:2] == ["supported", "not supported"]
    assert counts(made) == [
        ("supported", "supported", 1),
        ("not supported", "not-supported", 1),
        ("undecided", "undecided", 2),
        ("not tested", "not-tested", 1),
    ]


def test_numbers_stand_in_their_unit():
    shown = one()
    assert (shown.ours, shown.interval, shown.paper, shown.n) == ("+3.2 pp", "+1.0, +5.5", "+1.8 pp", "2")
    assert one(unit="", ours=-0.99612).ours == "−0.996"
    assert one(unit="% of features", ours=99.44).ours == "99.4% of features"
    assert one(unit="nats", ours=0.5).ours == "0.5 nats"
    assert shown.rule == "supported where the interval lies above 0 at 2<sup>14</sup>"


def test_what_is_missing_is_a_dash():
    shown = one(ours=None, low=None, high=None, paper=None, n=None)
    assert (shown.ours, shown.interval, shown.paper, shown.n) == ("–", "", "–", "–")


def test_an_unknown_verdict_is_refused_in_one_line():
    with pytest.raises(InputError, match=r"^metrics/claims.json: gain.verdict is 'maybe'; must be one of supported"):
        one(verdict="maybe")
