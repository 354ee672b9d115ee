from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from small import SHARP, adaptive, clear, in_parts, make_trained, plainly, single

from vanishing_variance.engine import attention
from vanishing_variance.engine.kernels import attend as kernel
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness import parallel
from vanishing_variance.measure.evaluation.block import EvaluationPlan, evaluate_block
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.inference import models as trained_models
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.inference.temperature import UNCHANGED, Temperature

LENGTHS = [4, 32]
PUBLISHED, FITTED = (-0.037, 0.481, -2.3, 4.917, -1.791), (1.0, 0.5)


@pytest.mark.parametrize(("in_batch", "at_once", "compiled"), [(1, 7, False), (600, 70, False), (2**20, 2**20, True)])
def test_accuracy_is_that_of_the_plain_module_whatever_the_batches(task_name, in_batch, at_once, compiled, monkeypatch):
    monkeypatch.setitem(trained_models.ITEMS_IN_BATCH, "cpu", in_batch)
    monkeypatch.setitem(attention.ITEMS_AT_ONCE, "cpu", at_once)
    if not compiled:
        monkeypatch.setattr(kernel, "usable", lambda *_: False)
    trained = make_trained(task_name, "ln", SHARP[task_name])
    task = trained.variant.task
    drawn = task.sample(stream(0, "here"), 80, 32)
    weighs = {"plain": None, "adaptive": adaptive(PUBLISHED), "fitted": adaptive(FITTED)}
    classes = {
        temperature: np.stack([plainly(trained, drawn, place, weigh)["classes"] for place in (0, 1)])
        for temperature, weigh in weighs.items()
    }
    sure = np.all([clear(of) for of in classes.values()], axis=(0, 1))
    drawn = {name: array[sure] for name, array in drawn.items()}
    models = Models.of(trained.variant, trained.weights)
    found = models.accuracy(partial(in_parts, drawn), 32, Temperature(FITTED))
    assert list(found) == list(classes)
    for temperature, of in classes.items():
        right = of[:, sure].argmax(-1) == task.label(drawn)
        assert found[temperature].tolist() == right.mean(axis=1).tolist()


def test_a_block_has_a_row_a_seed_temperature_and_length(task_name, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    trained, hard = make_trained(task_name, "ln", SHARP[task_name]), Temperature((1000.0,))
    plan = EvaluationPlan(
        name="test",
        root_seed=0,
        variant=trained.variant,
        lengths=LENGTHS,
        range_name="short",
        training_lengths=Range(shortest=3, longest=9),
        diagnostics=Diagnostics(sequences=20, heatmap_sequences=7),
        fitted={"first": UNCHANGED, "second": hard},
    )
    sequences = {n: partial(in_parts, trained.variant.task.sample(stream(0, n), 200, n)) for n in LENGTHS}
    done = evaluate_block(plan, trained.weights, [4, 5], sequences)
    assert set(done.frames) == {"accuracy", "mechanism", "moments", "features", "attention"}
    frame = done.frames["accuracy"].set_index(["seed", "temperature", "length"])["accuracy"]
    assert frame.index.equals(pd.MultiIndex.from_product([[4, 5], ["adaptive", "fitted", "plain"], LENGTHS]))
    for (seed, temperature, length), accuracy in frame.items():
        assert done.correct[temperature, length].shape == (2, 200)
        assert done.correct[temperature, length][seed - 4].mean() == accuracy
    fitted, plain = (done.correct[temperature, 32] for temperature in ("fitted", "plain"))
    assert (fitted != plain).any(axis=1).tolist() == [False, True]
    as_first = replace(plan, fitted={"first": hard, "second": UNCHANGED})
    alone = evaluate_block(as_first, single(trained, 1), [5], sequences)
    assert frame[5].tolist() == alone.frames["accuracy"]["accuracy"].tolist()
    mechanism = done.frames["mechanism"].query("seed == 5").reset_index(drop=True)
    pd.testing.assert_frame_equal(mechanism, alone.frames["mechanism"])
    assert mechanism[["sample", "length"]].to_numpy().tolist() == [["trained", 0], ["tested", 4], ["tested", 32]]
