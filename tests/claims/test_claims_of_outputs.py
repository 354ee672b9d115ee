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
    ("variance-decays", lambda of: of.assign(variance_before=1 / of["variance_before"])),
    ("variance-kept", lambda of: of.assign(variance_before=1.4 - of["variance_before"])),
    (
        "variance-kept-after",
        lambda of: of.assign(variance_after=np.where(of["norm"] == "none", 1.0, 0.01 * of["variance_after"])),
    ),
    ("mean-kept", lambda of: of.assign(mean_after=0.8 - of["mean_after"])),
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


def test_the_variance_of_o_and_that_after_the_normaliser_have_a_claim_each():
    """The made-up models keep 0.5 (none) and 0.9 (ln) of it before the normaliser; after it we say what."""
    seen = mechanism(accuracy()).assign(variance_after=lambda of: np.where(of["norm"] == "none", 1.01, 1.5))
    assert verdict("variance-kept-after-argmax", mechanism=seen)["verdict"] == CONTRADICTED
    found = verdict("variance-kept-argmax", mechanism=seen)
    assert found["verdict"] == SUPPORTED
    assert found["ours"] == pytest.approx(np.log2(0.9) - np.log2(0.5), abs=0.05)


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


def scattered(drift=0.0):
    """Means of few sequences, which differ from those of training by chance, more so without a normaliser."""
    rng = np.random.default_rng(0)
    seen = mechanism(accuracy())
    scatter = seen["norm"].map({"none": 0.05, "std": 0.01, "ln": 0.01})
    seen["mean_after"] = rng.normal(drift * (seen["norm"] == "none"), scatter)
    seen["trained_mean_after"] = rng.normal(0, scatter)
    return seen.assign(mean_se_after=scatter, trained_mean_se_after=scatter, trained_variance_after=1.0)


def test_means_that_differ_by_chance_neither_drift_nor_are_kept():
    for key in ("mean-drifts", "mean-kept"):
        assert verdict(f"{key}-argmax", mechanism=scattered())["verdict"] == UNDECIDED
    for key in ("mean-drifts", "mean-kept"):
        assert verdict(f"{key}-argmax", mechanism=scattered(drift=0.2))["verdict"] == SUPPORTED


def test_however_small_a_drift_its_size_in_standard_deviations_is_the_evidence():
    still = {"trained_mean_after": 0.0, "mean_se_after": 0.0, "trained_mean_se_after": 0.0}
    moved = mechanism(accuracy()).assign(**still, trained_variance_after=4.0)
    noise = 1 + np.random.default_rng(0).normal(0, 0.001, len(moved))
    moved["mean_after"] = moved["norm"].map({"none": 0.01, "std": 0.0, "ln": 0.002}) * noise
    found = verdict("mean-drifts-argmax", mechanism=moved)
    assert (found["verdict"], found["evidence"]) == (SUPPORTED, "none 0.005 sd")
    assert found["ours"] == pytest.approx(0.5**2, rel=1e-3)
    assert verdict("mean-kept-argmax", mechanism=moved)["evidence"] == "none 0.005 sd, ln 0.001 sd"
    same = moved.assign(mean_after=0.0)
    assert verdict("mean-drifts-argmax", mechanism=same)["evidence"] == "none 0 sd"


def test_without_a_normaliser_there_is_no_drift_to_judge():
    for key in ("mean-drifts", "mean-kept"):
        found = verdict(f"{key}-argmax", mechanism=mechanism(accuracy()).query("norm != 'none'"))
        assert (found["verdict"], found["ours"]) == (NOT_TESTED, None)
