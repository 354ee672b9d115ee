import numpy as np
import pytest
from made_up import evidence, mechanism, verdict

from vanishing_variance.claims.judgement import judge
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.claims.verdict import CONTRADICTED, NOT_TESTED, SUPPORTED, UNDECIDED

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


def test_dispersion_is_judged_by_the_16_largest_weights_where_they_were_measured():
    seen = mechanism()
    assert verdict("dispersion-argmax")["ours"] == pytest.approx(30, abs=1)
    old = verdict("dispersion-argmax", mechanism=seen.assign(largest16=np.nan))
    assert (old["verdict"], old["ours"]) == (NOT_TESTED, None)
    older = seen["seed"] < 3
    some = verdict("dispersion-argmax", mechanism=seen.assign(largest16=seen["largest16"].mask(older)))
    assert some == verdict("dispersion-argmax", mechanism=seen[~older])
    assert some["n"] == 5
    diverged = seen.assign(largest16=seen["largest16"].mask(older), largest=seen["largest"].mask(older))  # not old
    found = verdict("dispersion-argmax", mechanism=diverged)
    assert (found["verdict"], found["n"]) == (UNDECIDED, 8)


@pytest.mark.parametrize(("drift", "expected"), [(0.0, UNDECIDED), (0.2, SUPPORTED)])
@pytest.mark.parametrize("key", ["mean-drifts-argmax", "mean-kept-argmax"])
def test_means_of_few_sequences_that_differ_by_chance_neither_drift_nor_are_kept(key, drift, expected):
    rng, seen = np.random.default_rng(0), mechanism()
    scatter = seen["norm"].map({"none": 0.05, "std": 0.01, "ln": 0.01})
    seen["mean_after"] = rng.normal(drift * (seen["norm"] == "none"), scatter)
    seen["trained_mean_after"] = rng.normal(0, scatter)
    seen = seen.assign(mean_se_after=scatter, trained_mean_se_after=scatter, trained_variance_after=1.0)
    assert verdict(key, mechanism=seen)["verdict"] == expected
