from functools import partial

import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from small import SHARP, adaptive, clear, in_parts, make_trained, models_of, plainly, sample

from vanishing_variance.harness import parallel
from vanishing_variance.leaderboard import testing
from vanishing_variance.leaderboard.files import RULES
from vanishing_variance.leaderboard.testing import answer, measure_treatment
from vanishing_variance.measure.evaluation.fit import FitPlan
from vanishing_variance.measure.inference.temperature import PUBLISHED, UNCHANGED, Temperature

FITTED = Temperature((1.0, 0.5))
ONE_HOT = Temperature((1000.0,))


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)


def one_hot(logits):
    """Return all weight on the largest logit."""
    return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).double()


@pytest.mark.parametrize(
    ("attention", "projection"),
    [("softmax", "mlp"), ("power", "direct"), ("length_gain", "mlp"), ("length_gain", "direct")],
)
def test_answers_and_weights_are_those_of_the_plain_module(task_name, attention, projection):
    trained = make_trained(task_name, "none", SHARP[task_name], attention, projection=projection)
    drawn = sample(trained, 80, 12)
    labels = trained.variant.task.label(drawn)
    correct, inside = answer(models_of(trained), drawn, FITTED)
    weighs = {"trained": None, "hard": one_hot}
    if attention == "softmax":
        weighs |= {"adaptive": adaptive(PUBLISHED.polynomial), "fitted": adaptive(FITTED.polynomial)}
    for rule, weigh in weighs.items():
        plain = plainly(trained, drawn, weigh)
        sure = clear(plain["classes"])
        if rule == "hard":
            sure &= clear(plain["logits"])
        assert sure.mean() > 0.5
        expected = plain["classes"].argmax(-1) == labels
        assert_array_equal(correct[rule].numpy()[sure], expected[sure])
    plain = plainly(trained, drawn)
    of_target = plain["weights"][:, range(80), drawn["target"]]
    variance = plain["before"].var(axis=-1)
    assert_allclose(inside["target"], of_target, rtol=1e-3, atol=1e-4)
    assert_allclose(inside["variance"], variance, rtol=1e-3, atol=1e-6 * variance.max())


@pytest.mark.parametrize(("place", "seed", "fitted"), [(0, 4, UNCHANGED), (1, 7, ONE_HOT)])
def test_frames_have_a_row_a_seed_rule_and_length(monkeypatch, place, seed, fitted):
    """A softmax has all rules, and each half of a block its own fitted temperature."""
    monkeypatch.setattr(testing, "fit_block", lambda plan, weights: {"first": UNCHANGED, "second": ONE_HOT})
    trained = make_trained("dictionary", "none", SHARP["dictionary"])
    drawn = sample(trained, 60, 12)
    plan = FitPlan("here", 0, trained.variant, [12], 30)
    accuracy, attention = measure_treatment(plan, trained.weights, [4, 7], {12: partial(in_parts, drawn)})
    assert len(accuracy) == 2 * len(RULES)
    by_rule = accuracy.set_index(["seed", "rule", "length"])["accuracy"]
    correct, inside = answer(models_of(trained, place), drawn, fitted)
    for rule in RULES:
        assert by_rule[seed, rule, 12] == correct[rule].double().mean().item()
    row = attention.set_index(["seed", "length"]).loc[(seed, 12)]
    for name in ("target", "variance"):
        assert row[name] == pytest.approx(inside[name].mean().item(), rel=1e-5)
