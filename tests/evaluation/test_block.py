from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats
from small import in_arrays

from vanishing_variance.core import parallel
from vanishing_variance.core.ranges import Range
from vanishing_variance.core.seeding import stream
from vanishing_variance.evaluation.block import EvaluationPlan, evaluate_block
from vanishing_variance.evaluation.config import Diagnostics
from vanishing_variance.inference import models as trained_models
from vanishing_variance.inference.models import Models
from vanishing_variance.inference.temperature import UNCHANGED, Temperature
from vanishing_variance.model import attention
from vanishing_variance.model.kernels import attend as kernel
from vanishing_variance.reference import Reference

LENGTHS = [4, 32]
POLYNOMIALS = {"adaptive": [-0.037, 0.481, -2.3, 4.917, -1.791], "fitted": [0.5, 1.0]}
FITTED, SHARP = Temperature((0.5, 1.0)), Temperature((1000.0,))


def in_memory(drawn, size):
    """What a stage reads from a file, `size` sequences at a time."""
    for first in range(0, len(drawn["target"]), size):
        yield {name: array[first : first + size] for name, array in drawn.items()}


def plainly(plan, weights, place, sequences, polynomial):
    """Accuracy by the plain module; an adaptive temperature from numpy's polyval and scipy's entropy."""
    variant = plan.variant
    model = Reference(variant.task, variant.network().norm, variant.model, 16).double()
    model.load(weights, place)
    if polynomial:
        softmax = torch.softmax

        def sharpened(logits, dim):
            h = stats.entropy(softmax(logits, dim).detach().numpy(), axis=-1)
            beta = np.where(h > 0.5, np.maximum(np.polyval(polynomial, h), 1), 1)
            return softmax(logits * torch.from_numpy(beta).unsqueeze(-1), dim)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch, "softmax", sharpened)
            logits = model(sequences)
    else:
        logits = model(sequences)
    return logits.argmax(-1)


@pytest.mark.parametrize(("in_batch", "at_once"), [(1, 1), (600, 70), (2**20, 2**20)])
def test_accuracy_is_that_of_the_plain_module_whatever_the_batches(briefly_trained, in_batch, at_once, monkeypatch):
    monkeypatch.setitem(trained_models.ITEMS_IN_BATCH, "cpu", in_batch)
    monkeypatch.setitem(attention.ITEMS_AT_ONCE, "cpu", at_once)
    plan, weights = briefly_trained
    task = plan.variant.task
    drawn = task.sample(stream(0, "here"), 60, 32)
    drawn = {name: array.astype(np.float64) if array.dtype == np.float32 else array for name, array in drawn.items()}
    ours = Models.of(plan.variant, in_arrays(weights)).accuracy(partial(in_memory, drawn), 32, FITTED)
    sequences = {name: torch.from_numpy(array) for name, array in drawn.items()}
    for temperature in ("plain", "adaptive", "fitted"):
        for place in (0, 1):
            answers = plainly(plan, weights, place, sequences, POLYNOMIALS.get(temperature))
            expected = (answers.numpy() == task.label(drawn)).mean()
            assert ours[temperature][place] == expected
    assert ours["plain"].dtype == np.float64


@pytest.mark.parametrize("compiled", [True, False])
def test_single_precision_gives_the_answers_of_double(briefly_trained, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(kernel, "usable", lambda *_: False)
    plan, weights = briefly_trained
    drawn = plan.variant.task.sample(stream(0, "here"), 400, 200)
    double = {name: array.astype(np.float64) if array.dtype == np.float32 else array for name, array in drawn.items()}
    single = {name: tensor.float() for name, tensor in weights.items()}
    ours = Models.of(plan.variant, in_arrays(single)).accuracy(partial(in_memory, drawn), 200, FITTED)
    expected = Models.of(plan.variant, in_arrays(weights)).accuracy(partial(in_memory, double), 200, FITTED)
    for temperature in ("plain", "adaptive", "fitted"):
        np.testing.assert_allclose(ours[temperature], expected[temperature], rtol=0, atol=0.003)  # one answer of 400
    assert (ours["plain"] != ours["adaptive"]).any()


def test_a_block_has_a_row_a_seed_temperature_and_length(briefly_trained, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    plan, weights = briefly_trained
    how = Diagnostics(sequences=50, heatmap_sequences=7)
    evaluated = EvaluationPlan(
        name="test",
        root_seed=0,
        variant=plan.variant,
        lengths=LENGTHS,
        range_name="short",
        training_lengths=Range(shortest=3, longest=9),
        diagnostics=how,
        fitted={"first": UNCHANGED, "second": SHARP},
    )
    arrays = in_arrays(weights, torch.float32)
    sequences = {n: partial(in_memory, plan.variant.task.sample(stream(0, n), 1000, n)) for n in LENGTHS}
    done = evaluate_block(evaluated, arrays, [4, 5], sequences)
    frame = done.frames["accuracy"]
    index = pd.MultiIndex.from_product([[4, 5], ["adaptive", "fitted", "plain"], LENGTHS])
    assert pd.MultiIndex.from_frame(frame[["seed", "temperature", "length"]]).equals(index)
    answers = frame["accuracy"] * 1000
    assert (answers - answers.round()).abs().max() < 1e-9
    for (seed, temperature, length), accuracy in frame.set_index(["seed", "temperature", "length"])["accuracy"].items():
        assert done.correct[temperature, length].shape == (2, 1000)
        assert done.correct[temperature, length][seed - 4].mean() == accuracy
    assert set(done.frames) == {"accuracy", "mechanism", "moments", "features", "attention"}
    assert (done.correct["fitted", 32][0] == done.correct["plain", 32][0]).all()
    assert (done.correct["fitted", 32][1] != done.correct["plain", 32][1]).any()
    as_second = replace(evaluated, fitted={"first": SHARP, "second": UNCHANGED})
    alone = evaluate_block(as_second, {name: array[1:] for name, array in arrays.items()}, [5], sequences)
    assert frame.query("seed == 5")["accuracy"].tolist() == alone.frames["accuracy"]["accuracy"].tolist()
    of_alone = done.frames["mechanism"].query("seed == 5").reset_index(drop=True)
    pd.testing.assert_frame_equal(of_alone, alone.frames["mechanism"])
    assert of_alone[["sample", "length"]].to_numpy().tolist() == [["trained", 0], ["tested", 4], ["tested", 32]]
