import json

import pytest

from results_review.claims import flips
from results_review.commands import ReviewError


def claim(verdict, ours=None, unit="pp", **more):
    return {"claim": "ln helps", "where": "Section 3.1", "verdict": verdict, "ours": ours, "unit": unit, **more}


def test_only_verdicts_and_sizes_that_differ_are_named_with_both_numbers():
    before = {
        "same": claim("supported", 1.0, size=""),
        "ln": claim("not comparable", -1.39),
        "size": claim("supported", 2, size="smaller"),
        "gone": claim("not tested"),
    }
    after = {
        "ln": claim("supported", 5.812345, size="larger"),
        "same": claim("supported", 9.0),
        "new": claim("contradicted", 3, None),
        "size": claim("supported", 2, size="larger"),
    }
    said = ("ln helps", "Section 3.1")
    assert flips(json.dumps(before), json.dumps(after)) == [
        (*said, "not comparable → supported, larger", "-1.39 pp → 5.812 pp"),
        (*said, "– → contradicted", "– → 3"),
        (*said, "supported, smaller → supported, larger", "2 pp → 2 pp"),
        (*said, "not tested → –", "– → –"),
    ]


def test_nothing_is_compared_where_a_state_has_no_claims():
    one = json.dumps({"a": claim("supported")})
    assert flips("", one) == flips(one, "") == []


def test_what_is_not_json_is_refused():
    with pytest.raises(ReviewError, match=r"^the claims cannot be read as JSON"):
        flips("{}", "{")
