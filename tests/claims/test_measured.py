import numpy as np
import pytest
from made_up import evidence, exponents, fits, losses, mechanism, verdict

from vanishing_variance.claims.judgement import judge
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.claims.verdict import CONTRADICTED, NOT_TESTED, SUPPORTED, UNDECIDED
from vanishing_variance.probe.strategies import FIXED_LAST


@pytest.mark.parametrize(("rising", "expected"), [(1, SUPPORTED), (2, UNDECIDED), (12, CONTRADICTED)])
def test_vanishing_is_judged_by_the_share_of_features_in_the_worst_model(rising, expected):
    """Each of four models has 20 features."""
    frame = exponents()
    frame.loc[frame.index[:rising], ["exponent", "low", "high"]] = [0.5, 0.4, 0.6]
    found = verdict("vanishing", exponents=frame)
    assert (found["verdict"], found["n"]) == (expected, 1)
    assert found["ours"] == pytest.approx(100 * (1 - rising / 20))


def test_a_pretrained_model_is_judged_by_slopes_with_their_intervals():
    before, model = fits()["place"] == "before", "a decoder"
    slow = fits().assign(model=model)
    slow.loc[before, ["exponent", "low", "high"]] = [-0.3, -0.35, -0.25]
    slow.loc[before & (slow["strategy"] == FIXED_LAST), ["exponent", "low", "high"]] = [
        0.5,
        0.4,
        0.6,
    ]  # not the paper's
    falls, half = verdict("pretrained", fits=slow), verdict("square-root", fits=slow)
    assert (falls["verdict"], falls["ours"]) == (SUPPORTED, 100)
    assert falls["evidence"].startswith("a decoder: random tokens w/o P.E.: 100%, mean slope -0.30, after W_O 0.01; ")
    assert (half["verdict"], half["ours"]) == (CONTRADICTED, pytest.approx(-0.3))
    assert "with a fixed last token the mean slope is 0.50" in half["evidence"]
    assert verdict("square-root", fits=slow.assign(low=-0.6))["verdict"] == UNDECIDED
    assert verdict("pretrained", fits=slow.assign(high=0.1))["verdict"] == CONTRADICTED
    with_positions = slow[~slow["strategy"].str.contains("no_pe")]
    assert verdict("square-root", fits=with_positions)["verdict"] == NOT_TESTED
    assert verdict("pretrained", fits=with_positions)["verdict"] == SUPPORTED
    for key in ("pretrained", "square-root"):
        assert verdict(key, fits=fits().assign(low=np.nan, high=np.nan))["verdict"] == UNDECIDED


@pytest.mark.parametrize(("norm", "other"), [("none", "ln"), ("ln", "none")])
def test_a_loss_that_still_falls_at_the_end_has_not_converged(norm, other):
    key, still, falling = f"convergence-{norm}", losses(), losses(0.11)
    for falls, expected in ((0.0, SUPPORTED), (-0.2, SUPPORTED), (0.11, CONTRADICTED)):
        found = verdict(key, losses=losses(falls))
        assert found["verdict"] == expected
        assert found["ours"] == pytest.approx(100 * falls, abs=1)
    some = still.where(still["seed"] % 2 == 1, falling)
    assert verdict(key, losses=some)["verdict"] == UNDECIDED
    assert verdict(key, losses=still.where(still["norm"] == norm, falling))["verdict"] == SUPPORTED
    assert verdict(key, losses=still.query("seed == 0"))["verdict"] == NOT_TESTED
    assert verdict(key, losses=still.query("norm == @other"))["verdict"] == NOT_TESTED


TURNED = [
    ("features", lambda of: of.assign(feature_variance_before=1 + of["feature_variance_before"])),
    ("features-ln", lambda of: of.assign(feature_variance_after=1 + of["feature_variance_after"])),
    ("shift", lambda of: of.assign(shift_after=1 - of["shift_after"])),
    ("shift-left", lambda of: of.assign(trained_shift_after=0.9)),
    ("dispersion", lambda of: of.assign(largest16=1 - of["largest16"])),
    ("variance-decays", lambda of: of.assign(variance_before=1 / of["variance_before"])),
    ("variance-kept", lambda of: of.assign(variance_before=1.4 - of["variance_before"])),
    ("variance-kept-after", lambda of: of.assign(variance_after=np.where(of["norm"] == "none", 1.01, 1.5))),
    ("mean-kept", lambda of: of.assign(mean_after=0.8 - of["mean_after"])),
]


@pytest.mark.parametrize(("key", "change"), TURNED)
def test_turning_round_what_was_seen_inside_turns_its_claim_round_on_that_task_alone(key, change):
    seen = mechanism()
    turned = seen.where(seen["task"] != "dictionary", change(seen))
    claims = [claim for claim in CLAIMS if claim.key in (f"{key}-argmax", f"{key}-dictionary")]
    document = judge(claims, evidence(mechanism=turned))
    assert document[f"{key}-dictionary"]["verdict"] == CONTRADICTED
    assert document[f"{key}-argmax"]["verdict"] == SUPPORTED
