"""Models of the fast engine at test lengths: their answers, what is inside, their losses, and their sequences."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from small import (
    SHARP,
    clear,
    in_parts,
    make_plan,
    make_trained,
    models_of,
    of_plain_engine,
    plainly,
    plan_of,
    sample,
    single,
)

from vanishing_variance.engine import attend as attention
from vanishing_variance.engine.kernels import attend as kernel
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.measure import training_loss
from vanishing_variance.measure.config import Diagnostics
from vanishing_variance.measure.evaluation import internals
from vanishing_variance.measure.evaluation.diagnostics import diagnose
from vanishing_variance.measure.evaluation.fast_models import evaluate_block
from vanishing_variance.measure.inference import models as inference
from vanishing_variance.measure.inference.models import joined
from vanishing_variance.measure.inference.sequences import of_training_lengths, sample_batches
from vanishing_variance.measure.inference.temperature import POLYNOMIAL, adaptive_beta, entropy
from vanishing_variance.measure.plain_models.answers import plain_losses
from vanishing_variance.plain.plan import PlainPlan
from vanishing_variance.results.runs import RULES
from vanishing_variance.tasks.dictionary import Dictionary

LENGTHS = [4, 32]


def adaptive(plain):
    """Return the softmax with the adaptive temperature, of their mean entropy in all heads, head after head."""
    by_head = plain["by_head"]  # (S, H, B, N)
    entropies = stats.entropy(by_head, axis=-1).mean(axis=1)
    polynomials = np.maximum(np.polyval(POLYNOMIAL, entropies), 1)
    betas = np.where(entropies > 0.5, polynomials, 1).repeat(by_head.shape[1], axis=0)
    left = iter(torch.from_numpy(betas))
    return lambda logits: torch.softmax(logits * next(left).unsqueeze(-1), -1)


def one_hot(logits):
    """Return all weight on the largest logit."""
    return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).double()


WHOLE = (2**20, 2**20, True)


@pytest.mark.parametrize(
    ("attention_map", "projection", "heads", "batches"),
    [
        ("softmax", "mlp", 1, WHOLE),
        ("softmax", "mlp", 1, (600, 7, False)),
        ("power", "direct", 1, WHOLE),
        ("length_gain", "mlp", 1, WHOLE),
        ("length_gain", "direct", 2, WHOLE),
        ("softmax", "mlp", 4, WHOLE),
    ],
)
def test_answers_and_the_inside_are_those_of_the_plain_module(
    task_name, attention_map, projection, heads, batches, monkeypatch
):
    """Whatever the map, and how many items are in a batch, and in the part of it that is computed at once."""
    in_batch, at_once, compiled = batches
    monkeypatch.setitem(inference.ITEMS_IN_BATCH, "cpu", in_batch)
    monkeypatch.setitem(attention.ITEMS_AT_ONCE, "cpu", at_once)
    if not compiled:
        monkeypatch.setattr(kernel, "usable", lambda *_: False)
    trained = make_trained(task_name, "ln", SHARP[task_name], attention_map, projection=projection, heads=heads)
    drawn = sample(trained, 80, 30)
    labels = trained.variant.task.label(drawn)
    models = models_of(trained)
    correct, seen = [], []
    for batch in in_parts(drawn, models.batch_size(30)):
        attended = models.attended(batch)
        correct.append(models.answers(batch, attended))
        seen.append(internals.inside(batch, attended))
    found, inside = joined(correct), joined(seen)

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
        assert_array_equal(found[rule][sure], expected[sure])

    plain = plainly(trained, drawn)
    by_head = plain["by_head"]  # (S, H, B, N)
    ordered = np.sort(by_head, axis=-1)
    expected = {
        "target": plain["weights"][:, range(80), drawn["target"]],
        "largest": ordered[..., -1].mean(axis=1),
        "largest16": ordered[..., -16:].sum(axis=-1).mean(axis=1),
        "entropy": stats.entropy(by_head, axis=-1).mean(axis=1),
        "before": plain["before"],
        "after": plain["after"],
    }
    assert inside.keys() == expected.keys()
    for name, values in expected.items():
        assert_allclose(inside[name], values, rtol=1e-3, atol=1e-3 * values.std(), err_msg=name)


def test_a_block_has_a_row_a_seed_rule_and_length_the_same_for_a_model_alone(task_name):
    trained = make_trained(task_name, "ln", SHARP[task_name])
    averaged = {name: array[::-1].copy() for name, array in trained.weights.items()}
    weights = {"last": trained.weights, "averaged": averaged}
    sequences = {}
    for length in LENGTHS:
        sequences[length] = partial(in_parts, sample(trained, 200, length))
    look = Diagnostics(sequences=20, heatmap_sequences=7)
    plan = plan_of(trained)
    correct, frames = evaluate_block(plan, weights, [4, 5], sequences, look)
    accuracy = frames["accuracy"].set_index(["seed", "rule", "length"])["accuracy"]
    expected = pd.MultiIndex.from_product([[4, 5], sorted(RULES), LENGTHS])
    assert accuracy.index.equals(expected)
    for (rule, length), of_rule in correct.items():
        assert of_rule.mean(axis=1).tolist() == accuracy[:, rule, length].tolist()
    # averaged are here the last weights of the other seed
    assert_array_equal(correct["averaged", 32], correct["last", 32][::-1])

    of_second = {rule: single(trained._replace(weights=of_rule), 1) for rule, of_rule in weights.items()}
    _, alone = evaluate_block(plan, of_second, [5], sequences, look)
    for name in ("accuracy", "mechanism"):
        second = frames[name].query("seed == 5").reset_index(drop=True)
        pd.testing.assert_frame_equal(second, alone[name])


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(training_loss, "SEQUENCES", 300)


def test_it_is_the_mean_over_lengths_of_the_cross_entropy(task_name):
    trained = make_trained(task_name, "ln", 2)
    plan = replace(make_plan(task_name, "ln"), variant=trained.variant)
    other = {name: array[::-1].copy() for name, array in trained.weights.items()}
    found = training_loss.training_losses(plan, [4, 9], {"last": trained.weights, "averaged": other})

    by_length = []
    for sequences in training_loss.fresh_sequences(plan).values():
        labels = torch.from_numpy(sequences.pop("label"))
        logits = torch.from_numpy(plainly(trained, sequences)["classes"])
        of_labels = logits.log_softmax(-1).gather(2, labels.expand(2, -1).unsqueeze(-1))
        by_length.append(-of_labels.double().mean((1, 2)).numpy())
    assert len(by_length) == 7
    expected = np.mean(by_length, axis=0)
    assert found["rule"].tolist() == ["last", "last", "averaged", "averaged"]
    assert found["seed"].tolist() == [4, 9, 4, 9]
    np.testing.assert_allclose(found["loss"], [*expected, *expected[::-1]], rtol=1e-4)

    plain = plain_losses(PlainPlan.of_paper(plan), [4, 9], {"last": of_plain_engine(trained)})
    pd.testing.assert_frame_equal(plain, found[:2], rtol=1e-4)


def test_sequences_are_the_same_for_every_variant_and_as_many_of_each_length(task_name):
    first = training_loss.fresh_sequences(make_plan(task_name, "ln"))
    again = training_loss.fresh_sequences(make_plan(task_name, "none", steps=7))
    for ours, theirs in zip(first.values(), again.values(), strict=True):
        assert len(ours["label"]) == 43
        for name, array in ours.items():
            np.testing.assert_array_equal(array, theirs[name])


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_row_a_model_holds_means_over_sequences(task_name, where):
    trained = make_trained(task_name, "ln", SHARP[task_name])
    sequences = sample(trained, 40, 30)
    seen = joined([internals.inside(sequences, models_of(trained).attended(sequences))])
    _, row = internals.means_by_model("tested", 30, [7, 8], seen, seen)
    assert row["seed"] == 8
    assert row["target"] == pytest.approx(seen["target"][1].mean(), rel=1e-4)
    outputs = seen[where][1].astype(np.float64)
    expected = {
        "mean": outputs.mean(),
        "mean_se": stats.sem(outputs.mean(axis=1)),
        "variance": outputs.var(axis=1).mean(),
        "feature_variance": outputs.var(axis=0, ddof=1).mean(),
        "shift": 0,
    }
    assert {name: row[f"{name}_{where}"] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("where", ["before", "after"])
def test_diagnostics_are_those_of_the_outputs_computed_plainly(task_name, where, monkeypatch):
    monkeypatch.setattr("vanishing_variance.measure.inference.sequences.ITEMS_DRAWN", 32 * 50)
    trained = make_trained(task_name, "ln", SHARP[task_name])
    settings = Diagnostics(sequences=50, heatmap_sequences=7)
    found = diagnose(trained.variant, single(trained, 0), [32], settings, 0, lambda done: None)
    plain = plainly(trained, trained.variant.task.sample(stream(0, "diagnostics", task_name, 32), 50, 32))
    outputs = plain[where][0]
    off = 1e-3 * outputs.std()
    moments = found["moments"].set_index("where").loc[where]
    assert moments["mean"] == pytest.approx(outputs.mean(), abs=off)
    assert moments["mean_se"] == pytest.approx(stats.sem(outputs.mean(axis=1)), abs=off)
    assert moments["variance"] == pytest.approx(outputs.var(axis=1).mean(), rel=1e-3)
    features = found["features"].query("where == @where")["value"]
    assert_allclose(features, outputs[:, :5].ravel(), rtol=0, atol=off)
    ordered = -np.sort(-plain["weights"][0, :7])
    assert_allclose(found["attention"]["weight"], ordered[:, :16].ravel(), rtol=0, atol=1e-4)


TASK = Dictionary(key_classes=64, value_classes=4)
TOGETHER = 5


def keys(sequences, size):
    return [batch["key"] for batch in sample_batches(TASK, stream(0, "here"), sequences, 8, size)]


@pytest.mark.parametrize("sequences", [1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER])
def test_more_sequences_begin_as_fewer_whatever_the_batches(sequences, monkeypatch):
    monkeypatch.setattr("vanishing_variance.measure.inference.sequences.ITEMS_DRAWN", 8 * TOGETHER)
    more = np.concatenate(keys(4 * TOGETHER, TOGETHER))
    fewer = np.concatenate(keys(sequences, 3))
    assert_array_equal(fewer, more[:sequences])
    assert max(len(batch) for batch in keys(sequences, 3)) <= 3


def test_training_lengths_are_uniform_over_the_range():
    lengths = Range(shortest=3, longest=9)
    drawn = Counter()
    for batch in of_training_lengths(TASK, stream(0, "here"), 700, lengths, lambda length: 10):
        sequences, length = batch["key"].shape
        assert sequences <= 10
        drawn[length] += sequences
    assert sorted(drawn) == [3, 4, 5, 6, 7, 8, 9]
    assert stats.chisquare(list(drawn.values())).pvalue > 0.001


def test_beta_is_the_published_polynomial_where_it_sharpens():
    h = np.linspace(0, 12, 2001)
    polynomial = np.polyval([-0.037, 0.481, -2.3, 4.917, -1.791], h)
    expected = np.where(h > 0.5, np.maximum(polynomial, 1.0), 1.0)
    found = adaptive_beta(torch.from_numpy(h)).numpy()
    assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_the_entropy_of_all_weight_on_one_item_is_0_and_not_nan():
    assert entropy(torch.tensor([[0.0, 1e4]])).item() == 0
