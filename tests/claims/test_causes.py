"""Claims that interventions judge: each is turned round by what would turn it."""

import pytest
from made_up import interventions, shifted, verdict

from vanishing_variance.claims.verdict import CONTRADICTED, SUPPORTED, UNDECIDED
from vanishing_variance.measure.interventions.names import FORMS, OTHER, TARGET, damaged, kept_long, restored

MOMENTS = [name(form) for name in (restored, damaged) for form in FORMS]
# Nothing comes back, and nothing is lost; half of what is lost comes back, or is lost.
NO_RECOVERY, NO_DAMAGE, HALF = 0.5, 0.998, 0.749


def judged(key, **accuracies):
    return verdict(f"{key}-argmax", interventions=interventions(**accuracies))


def useless(*names):
    return {name: NO_DAMAGE if name.startswith("training") else NO_RECOVERY for name in names}


def test_moments_are_cleared_only_where_none_of_four_shares_is_large():
    assert judged("cause-moments", **useless(*MOMENTS))["verdict"] == CONTRADICTED
    for name in MOMENTS:
        found = judged("cause-moments", **useless(*(other for other in MOMENTS if other != name)))
        assert (found["verdict"], found["n"]) == (SUPPORTED, 8)
        assert found["ours"] == pytest.approx(100 if name.startswith("training") else 90, abs=2)
    assert judged("cause-moments", **useless(*MOMENTS) | {MOMENTS[-1]: HALF})["verdict"] == UNDECIDED


def test_attention_must_bring_it_back_whatever_the_moments_are():
    for name in (TARGET, kept_long("feature")):
        assert judged("cause-attention", **{name: NO_RECOVERY})["verdict"] == CONTRADICTED
    assert judged("cause-attention", **{name: HALF})["verdict"] == UNDECIDED
    assert judged("cause-attention", **useless(*MOMENTS))["verdict"] == SUPPORTED


def test_the_read_out_is_what_is_left_of_the_gain_at_equal_weights():
    """The gain is 10 points: where none with the weights of ln is as good as ln, they are the whole of it."""
    found = judged("cause-read-out")
    assert (found["verdict"], found["unit"]) == (SUPPORTED, "pp")
    assert found["ours"] == pytest.approx(10, abs=0.5)
    frame = interventions()
    other, ln = frame["intervention"] == OTHER, frame["norm"] == "ln"
    for expected in (UNDECIDED, CONTRADICTED):
        frame.loc[other, "accuracy"] += 0.1 * (1 - 2 * ln[other])
        assert verdict("cause-read-out-argmax", interventions=frame)["verdict"] == expected


def test_the_papers_attribution_follows_from_the_three():
    assert judged("attribution")["verdict"] == SUPPORTED
    recovered = useless(*MOMENTS)
    # ln brings 10 points: of these the moments bring nothing, 5, or 7, though little of what is lost.
    for value, expected in ((NO_RECOVERY, CONTRADICTED), (0.55, UNDECIDED), (0.57, SUPPORTED)):
        assert judged("attribution", **recovered | {restored("global"): value})["verdict"] == expected
    # Where ln brings nothing there is nothing to put down to the shift.
    behind = interventions(shifted("argmax", "ln", -15), **recovered | {restored("global"): 0.57})
    assert verdict("attribution-argmax", interventions=behind)["verdict"] == UNDECIDED
