from functools import partial

import pandas as pd
import pytest
from small import SHARP, adaptive, clear, in_parts, make_trained, models_of, plainly, rows_of, sample, single

from vanishing_variance.engine import attend as attention
from vanishing_variance.engine.kernels import attend as kernel
from vanishing_variance.engine.ranges import Range
from vanishing_variance.measure.evaluation.block import EvaluationPlan, evaluate_block
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.inference import models as inference
from vanishing_variance.measure.inference.temperature import PUBLISHED, UNCHANGED, Temperature

LENGTHS = [4, 32]
FITTED, HARD = Temperature((1.0, 0.5)), Temperature((1000.0,))
WEIGHS = {"plain": None, "adaptive": adaptive(PUBLISHED.polynomial), "fitted": adaptive(FITTED.polynomial)}


@pytest.mark.parametrize(("in_batch", "at_once", "compiled"), [(1, 7, False), (600, 70, False), (2**20, 2**20, True)])
def test_accuracy_is_that_of_the_plain_module_whatever_the_batches(task_name, in_batch, at_once, compiled, monkeypatch):
    monkeypatch.setitem(inference.ITEMS_IN_BATCH, "cpu", in_batch)
    monkeypatch.setitem(attention.ITEMS_AT_ONCE, "cpu", at_once)
    if not compiled:
        monkeypatch.setattr(kernel, "usable", lambda *_: False)
    trained = make_trained(task_name, "ln", SHARP[task_name])
    drawn = sample(trained, 20, 32)
    classes = {}
    sure = True
    for temperature, weigh in WEIGHS.items():
        classes[temperature] = plainly(trained, drawn, weigh)["classes"]
        sure &= clear(classes[temperature]).all(axis=0)
    drawn = rows_of(drawn, sure)
    labels = trained.variant.task.label(drawn)
    models = models_of(trained)
    found = models.accuracy(partial(in_parts, drawn), 32, FITTED)
    for temperature, of_temperature in classes.items():
        correct = of_temperature[:, sure].argmax(-1) == labels
        assert found[temperature].tolist() == correct.mean(axis=1).tolist()


def make_plan(variant, **fitted):
    return EvaluationPlan(
        name="test",
        root_seed=0,
        variant=variant,
        lengths=LENGTHS,
        range_name="short",
        training_lengths=Range(shortest=3, longest=9),
        diagnostics=Diagnostics(sequences=20, heatmap_sequences=7),
        fitted=fitted,
    )


def test_a_block_has_a_row_a_seed_temperature_and_length_the_same_for_a_model_alone(task_name):
    trained = make_trained(task_name, "ln", SHARP[task_name])
    sequences = {}
    for length in LENGTHS:
        sequences[length] = partial(in_parts, sample(trained, 200, length))
    done = evaluate_block(make_plan(trained.variant, first=UNCHANGED, second=HARD), trained.weights, [4, 5], sequences)
    accuracy = done.frames["accuracy"].set_index(["seed", "temperature", "length"])["accuracy"]
    expected = pd.MultiIndex.from_product([[4, 5], ["adaptive", "fitted", "plain"], LENGTHS])
    assert accuracy.index.equals(expected)
    for (temperature, length), correct in done.correct.items():
        assert correct.mean(axis=1).tolist() == accuracy[:, temperature, length].tolist()
    differ = done.correct["fitted", 32] != done.correct["plain", 32]
    assert differ.any(axis=1).tolist() == [False, True]

    plan = make_plan(trained.variant, first=HARD, second=UNCHANGED)
    alone = evaluate_block(plan, single(trained, 1), [5], sequences)
    for name in ("accuracy", "mechanism"):
        second = done.frames[name].query("seed == 5").reset_index(drop=True)
        pd.testing.assert_frame_equal(second, alone.frames[name])
