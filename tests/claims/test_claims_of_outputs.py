import numpy as np
import pytest
from made_up import accuracy, evidence, mechanism, verdict

from vanishing_variance.claims.judgement import judge
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.study.verdict import CONTRADICTED, NOT_TESTED, SUPPORTED, UNDECIDED

TURNED = [
    ("features", lambda of: of.assign(feature_variance_before=1 + of["feature_variance_before"])),
    ("features-ln", lambda of: of.assign(feature_variance_after=1 + of["feature_variance_after"])),
    ("shift", lambda of: of.assign(shift_after=1 - of["shift_after"])),
    ("shift-left", lambda of: of.assign(trained_shift_after=0.9)),
    ("dispersion", lambda of: of.assign(largest16=1 - of["largest16"])),
    ("moments", lambda of: of.assign(variance_before=1 / of["variance_before"])),
    (
        "stability",
        lambda of: of.assign(variance_after=np.where(of["norm"] == "none", 1.0, 0.01 * of["variance_after"])),
    ),
    ("stability", lambda of: of.assign(mean_after=0.8 - of["mean_after"])),
]


@pytest.mark.parametrize(("key", "change"), TURNED)
@pytest.mark.parametrize(("task", "other"), [("argmax", "dictionary"), ("dictionary", "argmax")])
def test_turning_round_what_was_seen_inside_turns_its_claim_round_on_that_task_alone(key, change, task, other):
    seen = mechanism(accuracy())
    turned = seen.where(seen["task"] != task, change(seen))
    claims = [claim for claim in CLAIMS if claim.key in (f"{key}-{task}", f"{key}-{other}")]
    document = judge(claims, evidence(mechanism=turned))
    assert document[f"{key}-{task}"]["verdict"] == CONTRADICTED
    assert document[f"{key}-{other}"]["verdict"] == SUPPORTED


def test_dispersion_is_judged_by_the_16_largest_weights_alone():
    flat = mechanism(accuracy()).assign(entropy=lambda of: np.where(of["norm"] == "ln", 9.0, 0.1), largest=0.5)
    found = verdict("dispersion-argmax", mechanism=flat)
    assert found["verdict"] == SUPPORTED
    assert found["ours"] == pytest.approx(30, abs=1)
    for task in ("argmax", "dictionary"):
        for lacking in (flat.drop(columns="largest16"), flat.assign(largest16=np.nan)):
            old = verdict(f"dispersion-{task}", mechanism=lacking)
            assert (old["verdict"], old["ours"]) == (NOT_TESTED, None)
            assert "the mass of the 16 largest weights was not measured" in old["evidence"]


def test_dispersion_is_judged_by_the_seeds_of_which_it_was_measured():
    seen = mechanism(accuracy())
    older = seen["seed"] < 3
    some = verdict("dispersion-argmax", mechanism=seen.assign(largest16=seen["largest16"].mask(older)))
    alone = verdict("dispersion-argmax", mechanism=seen[~older])
    assert some == alone
    assert some["n"] == seen["seed"].nunique() - 3


def test_a_model_that_diverged_is_not_taken_for_an_old_one():
    seen = mechanism(accuracy())
    nothing = dict.fromkeys(("largest", "largest16", "target"), np.nan)
    diverged = seen.where(seen["seed"] > 0, seen.assign(**nothing))
    found = verdict("dispersion-argmax", mechanism=diverged)
    assert (found["verdict"], found["n"]) == (UNDECIDED, 8)


def test_a_mean_that_does_not_move_is_undecided():
    still = mechanism(accuracy()).assign(mean_before=0.0)
    found = verdict("moments-argmax", mechanism=still)
    assert found["verdict"] == UNDECIDED
    assert "mean drifts in 0 of 8 models" in found["evidence"]
    grows = still.assign(variance_before=1 / still["variance_before"])
    assert verdict("moments-argmax", mechanism=grows)["verdict"] == CONTRADICTED


def test_where_nothing_drifts_nothing_is_preserved():
    """Means of few sequences differ from those of training by chance, more so where they scatter more."""
    rng = np.random.default_rng(0)
    still = mechanism(accuracy())
    for where in ("before", "after"):
        scatter = still["norm"].map({"none": 0.05, "std": 0.01, "ln": 0.01})
        still[f"mean_{where}"] = rng.normal(0, scatter)
        still[f"trained_mean_{where}"] = rng.normal(0, scatter)
        still[f"mean_se_{where}"] = still[f"trained_mean_se_{where}"] = scatter
    found = verdict("stability-argmax", mechanism=still)
    assert found["verdict"] == UNDECIDED
    assert "variance: supported" in found["evidence"]
    assert "mean: undecided" in found["evidence"]
    # The number is that of what decides.
    assert found["unit"] == "variances"


def test_a_drift_of_less_than_a_hundredth_of_a_standard_deviation_needs_no_preserving():
    for drift, expected in ((0.005, UNDECIDED), (0.02, SUPPORTED)):
        moved = mechanism(accuracy()).assign(trained_mean_after=0.0, mean_se_after=0.0, trained_mean_se_after=0.0)
        noise = 1 + np.random.default_rng(0).normal(0, 0.01, len(moved))
        moved["mean_after"] = np.where(moved["norm"] == "none", drift * noise, 0)
        assert verdict("stability-argmax", mechanism=moved)["verdict"] == expected
