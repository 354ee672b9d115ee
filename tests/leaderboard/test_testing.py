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
from vanishing_variance.measure.inference.temperature import UNCHANGED, Temperature

PUBLISHED, FITTED = (-0.037, 0.481, -2.3, 4.917, -1.791), (1.0, 0.5)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)


def made(task, attention, projection):
    """Two models of a treatment, with weights that single items dominate."""
    sharpness = 1.0 if projection == "qk_norm" else SHARP[task]
    return make_trained(task, "none", sharpness, attention, projection=projection)


def of_first_query(logits):
    return logits.reshape(-1, *logits.shape[-2:])[0]


def one_hot(logits):
    """All weight on the largest logit of the first query."""
    return torch.nn.functional.one_hot(of_first_query(logits).argmax(-1), logits.shape[-1]).double()


@pytest.mark.parametrize(
    ("attention", "projection"),
    [
        *(("softmax", "mlp"), ("softmax", "direct"), ("power", "qk_norm"), ("entmax15", "direct")),
        *(("sigmoid", "mlp"), ("sigmoid", "qk_norm"), ("differential", "mlp"), ("differential", "direct")),
    ],
)
def test_answers_and_weights_are_those_of_the_plain_module(task_name, attention, projection):
    trained = made(task_name, attention, projection)
    task = trained.variant.task
    drawn = task.sample(stream(0, "here"), 80, 12)
    found = answer(Models.of(trained.variant, trained.weights), drawn, Temperature(FITTED))
    weighs = {"trained": None, "hard": one_hot}
    if attention == "softmax":
        weighs |= {"adaptive": adaptive(PUBLISHED), "fitted": adaptive(FITTED)}
    for place in (0, 1):
        plain = {rule: plainly(trained, drawn, place, weigh) for rule, weigh in weighs.items()}
        chosen = clear(of_first_query(plain["hard"]["logits"]))
        for rule, of in plain.items():
            sure = clear(of["classes"]) & (chosen | (rule != "hard"))
            assert sure.sum() > 40
            right = of["classes"].argmax(-1) == task.label(drawn)
            np.testing.assert_array_equal(found[rule][place].bool().numpy()[sure], right[sure], err_msg=rule)
        weights, variance = plain["trained"]["weights"], plain["trained"]["before"].var(axis=1)
        of_target = np.take_along_axis(weights, drawn["target"][:, None], axis=1)[:, 0]
        np.testing.assert_allclose(found["target"][place], of_target, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(found["variance"][place], variance, rtol=1e-3, atol=1e-6 * variance.max())


def test_frames_have_a_row_a_seed_rule_and_length(monkeypatch):
    """A softmax of folded keys has all rules, and each half of a block its own fitted temperature."""
    fits = {"first": (UNCHANGED, 0), "second": (Temperature((1000.0,)), 9)}
    monkeypatch.setattr(testing, "fit_block", lambda plan, weights: fits)
    trained = made("dictionary", "softmax", "mlp")
    drawn = {length: trained.variant.task.sample(stream(0, length), 60, length) for length in (4, 12)}
    plan = FitPlan("here", 0, trained.variant, [8, 12], 30)
    read = {length: partial(in_parts, of) for length, of in drawn.items()}
    accuracy, attention = measure_treatment(plan, trained.weights, [4, 7], read)
    expected, inside = {}, []
    for place, (seed, half) in enumerate(((4, "first"), (7, "second"))):
        models = Models.of(trained.variant, single(trained, place))
        for length, of in drawn.items():
            alone = {rule: each.double().mean().item() for rule, each in answer(models, of, fits[half][0]).items()}
            expected |= {(seed, rule, length): alone[rule] for rule in RULES}
            inside.append([seed, length, alone["target"], alone["variance"]])
    rows = accuracy.set_index(["seed", "rule", "length"])["accuracy"].to_dict()
    assert list(rows) == sorted(expected)
    assert rows == pytest.approx(expected)
    np.testing.assert_allclose(attention[["seed", "length", "target", "variance"]], inside, rtol=1e-6)


@pytest.mark.parametrize(
    ("attention", "projection", "rules"),
    [("softmax", "qk_norm", {"trained", "hard", "adaptive"}), ("sigmoid", "mlp", {"trained", "hard"})],
)
def test_what_is_no_softmax_of_folded_keys_has_no_fitted_temperature(attention, projection, rules):
    trained = made("argmax", attention, projection)
    drawn = trained.variant.task.sample(stream(0, "here"), 20, 8)
    plan = FitPlan("here", 0, trained.variant, [8], 10)
    accuracy, _ = measure_treatment(plan, trained.weights, [0, 1], {8: partial(in_parts, drawn)})
    assert set(accuracy["rule"]) == rules
