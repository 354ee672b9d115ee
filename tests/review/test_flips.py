from vanishing_variance.review.flips import Flip, flips


def claim(verdict, ours=None, unit="pp"):
    return {"claim": "ln helps", "where": "Section 3.1", "verdict": verdict, "ours": ours, "unit": unit}


def test_only_verdicts_that_differ_are_named_with_both_numbers():
    before = {"same": claim("supported", 1.0), "ln": claim("undecided", 0.123456), "gone": claim("not tested")}
    after = {"ln": claim("supported", 2.5), "same": claim("supported", 9.0), "new": claim("contradicted", 3, "ratio")}
    where = ("ln helps", "Section 3.1")
    assert flips(before, after) == [
        Flip(*where, "undecided", "supported", "0.1235 pp", "2.5 pp"),
        Flip(*where, "–", "contradicted", "–", "3 ratio"),
        Flip(*where, "not tested", "–", "–", "–"),
    ]


def test_a_run_of_more_steps_flips_what_was_not_comparable():
    few, enough = claim("not comparable (undertrained)", -1.39), claim("supported", 5.8)
    assert flips({"ln": few}, {"ln": enough}) == [
        Flip("ln helps", "Section 3.1", "not comparable (undertrained)", "supported", "-1.39 pp", "5.8 pp")
    ]


def test_nothing_is_compared_where_a_state_has_no_verdicts():
    assert flips(None, {"a": claim("supported")}) == flips({"a": claim("supported")}, None) == []


def test_a_number_without_a_unit_stands_alone():
    (flip,) = flips({"a": claim("undecided")}, {"a": claim("supported", 0, None)})
    assert flip.ours_after == "0"
