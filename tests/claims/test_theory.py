import numpy as np
import pytest
from made_up import exponents, fits, losses, steps, verdict

from vanishing_variance.study.strategies import FIXED_LAST
from vanishing_variance.study.verdict import CONTRADICTED, NOT_COMPARABLE, NOT_TESTED, SUPPORTED, UNDECIDED


def test_theory_is_judged_by_shares_of_features_and_components():
    rising = exponents()
    rising.loc[rising.index[:12], ["exponent", "low", "high"]] = [0.5, 0.4, 0.6]
    assert verdict("vanishing", exponents=rising)["verdict"] == CONTRADICTED
    assert verdict("vanishing")["n"] == 1
    rising.loc[rising.index[2:12], ["exponent", "low", "high"]] = [-1, -1.1, -0.9]
    assert verdict("vanishing", exponents=rising)["verdict"] == UNDECIDED
    slow = fits().assign(exponent=-0.3, low=-0.35, high=-0.25)
    assert verdict("pretrained", fits=slow)["verdict"] == SUPPORTED
    assert verdict("square-root", fits=slow)["verdict"] == CONTRADICTED
    assert verdict("square-root", fits=slow.assign(low=-0.6))["verdict"] == UNDECIDED
    assert verdict("pretrained", fits=slow.assign(high=0.1))["verdict"] == CONTRADICTED


def test_capacity_against_the_baseline_is_an_argument_and_against_ln_a_measurement():
    same = {"answers": 1000, "differ": 0.001, "logits_differ": 1e-6, "logits_deviation": 2.0}
    for task in ("argmax", "dictionary"):
        both = {"argmax": same, "dictionary": same}
        assert verdict("ln-std-functions", capacity=both)["verdict"] == SUPPORTED
        other = both | {task: same | {"differ": 0.0011}}
        assert verdict("ln-std-functions", capacity=other)["verdict"] == CONTRADICTED
        assert verdict("capacity", capacity=other)["verdict"] == NOT_TESTED


def test_a_fixed_last_token_changes_no_verdict_and_is_named_beside_the_papers_way():
    frame = fits().assign(exponent=-0.3, low=-0.35, high=-0.25)
    fixed = frame["strategy"] == FIXED_LAST
    frame.loc[fixed, ["exponent", "low", "high"]] = [0.5, 0.4, 0.6]
    falls, half = (verdict(key, fits=frame) for key in ("pretrained", "square-root"))
    assert (falls["verdict"], half["verdict"]) == (SUPPORTED, CONTRADICTED)
    assert falls["ours"] == 100
    assert "fixed" not in falls["evidence"]
    assert half["ours"] == pytest.approx(-0.3)
    assert "holds -0.5; with the last token fixed the mean slope is 0.50" in half["evidence"]


def test_another_model_or_two_lengths_leave_figure_1_undecided():
    for key in ("pretrained", "square-root"):
        other = verdict(key, fits=fits().assign(model="all-MiniLM-L6-v2"))
        assert other["verdict"] == UNDECIDED
        assert other["evidence"].startswith("not the paper's model but all-MiniLM-L6-v2, where: ")
        two = verdict(key, fits=fits().assign(low=np.nan, high=np.nan))
        assert (two["verdict"], two["evidence"].partition(": ")[2]) == (
            UNDECIDED,
            "two lengths leave a slope no interval",
        )


@pytest.mark.parametrize("norm", ["none", "ln"])
def test_a_loss_that_still_falls_at_the_end_has_not_converged(norm):
    key = f"convergence-{norm}"
    for falls, expected in ((0.0, SUPPORTED), (-0.2, SUPPORTED), (0.11, CONTRADICTED)):
        found = verdict(key, losses=losses(falls))
        assert found["verdict"] == expected, falls
        assert found["ours"] == pytest.approx(100 * falls, abs=1)
    some = losses(0.11)
    some.loc[some["seed"] % 2 == 1, "loss"] = losses()["loss"]
    assert verdict(key, losses=some)["verdict"] == UNDECIDED
    other = losses(0.11)
    other.loc[other["norm"] == norm, "loss"] = losses()["loss"]
    assert verdict(key, losses=other)["verdict"] == SUPPORTED
    assert verdict(key, losses=other.query("seed == 0"))["verdict"] == UNDECIDED


def test_convergence_is_that_within_the_papers_steps():
    """What comes after them decides nothing; fewer are not comparable."""
    longer = losses(0.11, 20_000)
    longer.loc[longer["step"] > 10_000, "loss"] = 0.1
    assert verdict("convergence-ln", losses=longer, steps=steps((1, 20_000)))["verdict"] == CONTRADICTED
    few = verdict("convergence-ln", losses=losses(steps=9_900), steps=steps((100_000, 9_900)))
    assert (few["verdict"], few["evidence"]) == (NOT_COMPARABLE, "9,900 of 10,000 steps")
    absent = verdict("convergence-ln", losses=losses().query("norm == 'none'"))
    assert (absent["verdict"], absent["evidence"]) == (NOT_TESTED, "there are no training losses of ln")
