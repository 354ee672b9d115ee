from functools import partial

import numpy as np
import pytest
import torch
from small import SHARP, adaptive, clear, in_parts, make_trained, plainly, single

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness import parallel
from vanishing_variance.leaderboard import testing
from vanishing_variance.leaderboard.files import RULES
from vanishing_variance.leaderboard.testing import answer, measure_treatment
from vanishing_variance.measure.evaluation.fit import FitPlan
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.inference.temperature import PUBLISHED, UNCHANGED, Temperature

FITTED = Temperature((1.0, 0.5))


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
    drawn = trained.variant.task.sample(stream(0, "here"), 80, 12)
    labels = trained.variant.task.label(drawn)
    correct, inside = answer(Models.of(trained.variant, trained.weights), drawn, FITTED)
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
        np.testing.assert_array_equal(correct[rule].numpy()[sure], expected[sure])
    plain = plainly(trained, drawn)
    of_target = plain["weights"][:, range(80), drawn["target"]]
    variance = plain["before"].var(axis=-1)
    np.testing.assert_allclose(inside["target"], of_target, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(inside["variance"], variance, rtol=1e-3, atol=1e-6 * variance.max())


def test_frames_have_a_row_a_seed_rule_and_length(monkeypatch):
    """A softmax has all rules, and each half of a block its own fitted temperature."""
    fits = {"first": UNCHANGED, "second": Temperature((1000.0,))}
    monkeypatch.setattr(testing, "fit_block", lambda plan, weights: fits)
    trained = make_trained("dictionary", "none", SHARP["dictionary"])
    short, long = (trained.variant.task.sample(stream(0, length), 60, length) for length in (4, 12))
    plan = FitPlan("here", 0, trained.variant, [8, 12], 30)
    read = {4: partial(in_parts, short), 12: partial(in_parts, long)}
    accuracy, attention = measure_treatment(plan, trained.weights, [4, 7], read)
    accuracy = accuracy.set_index(["seed", "rule", "length"])["accuracy"]
    attention = attention.set_index(["seed", "length"])
    assert len(accuracy) == 2 * len(RULES) * 2
    for place, seed, half in ((0, 4, "first"), (1, 7, "second")):
        models = Models.of(trained.variant, single(trained, place))
        correct, inside = answer(models, long, fits[half])
        for rule in RULES:
            assert accuracy[seed, rule, 12] == correct[rule].double().mean().item()
        row = attention.loc[(seed, 12)]
        assert row["target"] == pytest.approx(inside["target"].mean().item(), rel=1e-5)
        assert row["variance"] == pytest.approx(inside["variance"].mean().item(), rel=1e-5)


def test_what_is_no_softmax_has_no_temperature():
    trained = make_trained("argmax", "none", SHARP["argmax"], "length_gain")
    drawn = trained.variant.task.sample(stream(0, "here"), 20, 8)
    plan = FitPlan("here", 0, trained.variant, [8], 10)
    accuracy, _ = measure_treatment(plan, trained.weights, [0, 1], {8: partial(in_parts, drawn)})
    assert set(accuracy["rule"]) == {"trained", "hard"}
