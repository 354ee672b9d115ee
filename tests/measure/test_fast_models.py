from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from small import SHARP, clear, in_parts, make_trained, models_of, plainly, rows_of, sample, single

from vanishing_variance.engine import attend as attention
from vanishing_variance.engine.kernels import attend as kernel
from vanishing_variance.engine.ranges import Range
from vanishing_variance.measure.evaluation import internals
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.evaluation.fast_models import EvaluationPlan, evaluate_block
from vanishing_variance.measure.inference import models as inference
from vanishing_variance.measure.inference.models import joined
from vanishing_variance.measure.inference.temperature import POLYNOMIAL
from vanishing_variance.results.runs import RULES

LENGTHS = [4, 32]


def adaptive(plain):
    """Return the softmax with the adaptive temperature, of their mean entropy in all heads, head after head."""
    by_head = plain["by_head"]  # (S, H, B, N)
    entropies = stats.entropy(by_head, axis=-1).mean(axis=1)
    polynomials = np.maximum(np.polyval(POLYNOMIAL, entropies), 1)
    betas = np.where(entropies > 0.5, polynomials, 1).repeat(by_head.shape[1], axis=0)
    left = iter(torch.from_numpy(betas))
    return lambda logits: torch.softmax(logits * next(left).unsqueeze(-1), -1)


@pytest.mark.parametrize(("in_batch", "at_once", "compiled"), [(1, 7, False), (600, 70, False), (2**20, 2**20, True)])
def test_accuracy_is_that_of_the_plain_module_whatever_the_batches(task_name, in_batch, at_once, compiled, monkeypatch):
    monkeypatch.setitem(inference.ITEMS_IN_BATCH, "cpu", in_batch)
    monkeypatch.setitem(attention.ITEMS_AT_ONCE, "cpu", at_once)
    if not compiled:
        monkeypatch.setattr(kernel, "usable", lambda *_: False)
    trained = make_trained(task_name, "ln", SHARP[task_name])
    drawn = sample(trained, 20, 32)
    plain = plainly(trained, drawn)
    classes = {"last": plain["classes"], "adaptive": plainly(trained, drawn, adaptive(plain))["classes"]}
    sure = np.all([clear(of_rule).all(axis=0) for of_rule in classes.values()], axis=0)
    drawn = rows_of(drawn, sure)
    labels = trained.variant.task.label(drawn)
    models = models_of(trained)
    batches = in_parts(drawn, models.batch_size(32))
    found = joined(models.correct(batch, models.attended(batch)) for batch in batches)
    for rule, of_rule in classes.items():
        assert_array_equal(found[rule], of_rule[:, sure].argmax(-1) == labels)


def one_hot(logits):
    """Return all weight on the largest logit."""
    return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).double()


@pytest.mark.parametrize(
    ("attention_map", "projection", "heads"),
    [
        ("softmax", "mlp", 1),
        ("power", "direct", 1),
        ("length_gain", "mlp", 1),
        ("length_gain", "direct", 2),
        ("softmax", "mlp", 4),
    ],
)
def test_every_map_has_the_answers_and_the_inside_of_the_plain_module(task_name, attention_map, projection, heads):
    trained = make_trained(task_name, "none", SHARP[task_name], attention_map, projection=projection, heads=heads)
    drawn = sample(trained, 80, 12)
    labels = trained.variant.task.label(drawn)
    models = models_of(trained)
    attended = models.attended(drawn)
    found = models.correct(drawn, attended)
    weighs = {"last": None, "hard": one_hot}
    assert set(found) == set(weighs if attention_map == "length_gain" else RULES) - {"averaged"}
    if attention_map == "softmax":
        weighs["adaptive"] = adaptive(plainly(trained, drawn))
    for rule, weigh in weighs.items():
        plain = plainly(trained, drawn, weigh)
        sure = clear(plain["classes"])
        if rule == "hard":
            sure &= clear(plain["logits"]) if heads == 1 else True
        assert sure.mean() > 0.5
        expected = plain["classes"].argmax(-1) == labels
        assert_array_equal(found[rule].numpy()[sure], expected[sure])
    plain = plainly(trained, drawn)
    inside = internals.inside(drawn, attended)
    of_target = plain["weights"][:, range(80), drawn["target"]]
    assert_allclose(inside["target"], of_target, rtol=1e-3, atol=1e-4)
    assert_allclose(inside["before"], plain["before"], rtol=1e-3, atol=1e-4 * plain["before"].std())


def make_plan(variant):
    return EvaluationPlan(
        name="test",
        root_seed=0,
        variant=variant,
        range_name="short",
        training_lengths=Range(shortest=3, longest=9),
        diagnostics=Diagnostics(sequences=20, heatmap_sequences=7),
    )


def test_a_block_has_a_row_a_seed_rule_and_length_the_same_for_a_model_alone(task_name):
    trained = make_trained(task_name, "ln", SHARP[task_name])
    averaged = {name: array[::-1].copy() for name, array in trained.weights.items()}
    weights = {"last": trained.weights, "averaged": averaged}
    sequences = {}
    for length in LENGTHS:
        sequences[length] = partial(in_parts, sample(trained, 200, length))
    plan = make_plan(trained.variant)
    correct, frames = evaluate_block(plan, weights, [4, 5], sequences)
    accuracy = frames["accuracy"].set_index(["seed", "rule", "length"])["accuracy"]
    expected = pd.MultiIndex.from_product([[4, 5], sorted(RULES), LENGTHS])
    assert accuracy.index.equals(expected)
    for (rule, length), of_rule in correct.items():
        assert of_rule.mean(axis=1).tolist() == accuracy[:, rule, length].tolist()
    # averaged are here the last weights of the other seed
    assert_array_equal(correct["averaged", 32], correct["last", 32][::-1])

    of_second = {rule: single(trained._replace(weights=of_rule), 1) for rule, of_rule in weights.items()}
    _, alone = evaluate_block(plan, of_second, [5], sequences)
    for name in ("accuracy", "mechanism"):
        second = frames[name].query("seed == 5").reset_index(drop=True)
        pd.testing.assert_frame_equal(second, alone[name])
