from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import make_plan
from scipy import stats

from vanishing_variance import evaluation, parallel, training
from vanishing_variance.evaluation import Models, Plan, diagnose, evaluate_block
from vanishing_variance.kernels import attend as kernel
from vanishing_variance.model import attention
from vanishing_variance.model.initialisation import draw
from vanishing_variance.model.reference import Reference
from vanishing_variance.model.temperature import Temperature
from vanishing_variance.params.diagnostics import Diagnostics
from vanishing_variance.seeding import stream

LENGTHS = [4, 32]
POLYNOMIALS = {"adaptive": [-0.037, 0.481, -2.3, 4.917, -1.791], "fitted": [0.5, 1.0]}
FITTED = Temperature((0.5, 1.0))


@pytest.fixture
def trained(task_name):
    """A training plan, the weights of two briefly trained seeds (float64), and their evaluation."""
    plan = make_plan(task_name, "ln", steps=60)
    weights = draw(plan.variant.initial(plan.schedule), plan.root, task_name, [0, 1])
    training.train(plan, weights, [0, 1])
    how = Diagnostics(sequences=50, heatmap_sequences=7)
    evaluated = Plan(name="test", root=0, variant=plan.variant, lengths=LENGTHS, diagnostics=how, fitted=FITTED)
    return evaluated, {name: tensor.double() for name, tensor in weights.items()}, plan


def in_memory(drawn, size):
    """What a stage reads from a file, `size` sequences at a time."""
    for first in range(0, len(drawn["target"]), size):
        yield {name: array[first : first + size] for name, array in drawn.items()}


def models(plan, weights):
    return Models.of(plan.variant, {name: tensor.numpy() for name, tensor in weights.items()})


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
def test_accuracy_is_that_of_the_plain_module_whatever_the_batches(trained, in_batch, at_once, monkeypatch):
    monkeypatch.setitem(evaluation.ITEMS_IN_BATCH, "cpu", in_batch)
    monkeypatch.setitem(attention.ITEMS_AT_ONCE, "cpu", at_once)
    _, weights, plan = trained
    task = plan.variant.task
    drawn = task.sample(stream(0, "here"), 60, 32)
    drawn = {name: array.astype(np.float64) if array.dtype == np.float32 else array for name, array in drawn.items()}
    ours = models(plan, weights).accuracy(partial(in_memory, drawn), 32, FITTED)
    sequences = {name: torch.from_numpy(array) for name, array in drawn.items()}
    for temperature in ("plain", "adaptive", "fitted"):
        for place in (0, 1):
            answers = plainly(plan, weights, place, sequences, POLYNOMIALS.get(temperature))
            expected = (answers.numpy() == task.label(drawn)).mean()
            assert ours[temperature][place] == expected
    assert ours["plain"].dtype == np.float64


@pytest.mark.parametrize("compiled", [True, False])
def test_single_precision_gives_the_answers_of_double(trained, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(kernel, "usable", lambda *_: False)
    _, weights, plan = trained
    drawn = plan.variant.task.sample(stream(0, "here"), 400, 200)
    double = {name: array.astype(np.float64) if array.dtype == np.float32 else array for name, array in drawn.items()}
    single = {name: tensor.float() for name, tensor in weights.items()}
    ours = models(plan, single).accuracy(partial(in_memory, drawn), 200, FITTED)
    expected = models(plan, weights).accuracy(partial(in_memory, double), 200, FITTED)
    for temperature in ("plain", "adaptive", "fitted"):
        np.testing.assert_allclose(ours[temperature], expected[temperature], rtol=0, atol=0.003)  # one answer of 400
    assert (ours["plain"] != ours["adaptive"]).any()


def test_a_block_has_a_row_a_seed_temperature_and_length(trained, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    evaluated, weights, plan = trained
    arrays = {name: tensor.float().numpy() for name, tensor in weights.items()}
    sequences = {n: partial(in_memory, plan.variant.task.sample(stream(0, n), 30, n)) for n in LENGTHS}
    frame, inside = evaluate_block(evaluated, arrays, [4, 5], sequences)
    index = pd.MultiIndex.from_product([[4, 5], ["adaptive", "fitted", "plain"], LENGTHS])
    assert pd.MultiIndex.from_frame(frame[["seed", "temperature", "length"]]).equals(index)
    assert frame["accuracy"].between(0, 1).all()
    assert (frame["accuracy"] * 30 % 1).abs().max() < 1e-9
    assert set(inside) == {"moments", "features", "attention"}
    alone, _ = evaluate_block(evaluated, {name: array[1:] for name, array in arrays.items()}, [5], sequences)
    assert frame.query("seed == 5")["accuracy"].tolist() == alone["accuracy"].tolist()


def test_diagnostics_are_those_of_the_outputs_computed_plainly(trained, monkeypatch):
    evaluated, weights, plan = trained
    variant = plan.variant
    one = {name: tensor[:1].float() for name, tensor in weights.items()}
    inside = diagnose(evaluated, models(plan, one))
    model = Reference(variant.task, variant.network().norm, variant.model, 16)
    model.load(one, 0)
    seen = {}
    norm = variant.network().norm

    def watched(outputs, parameters, epsilon):
        seen["before"], seen["after"] = outputs, norm.normalise(outputs, parameters, epsilon)
        return seen["after"]

    model.norm = type("Norm", (), {"normalise": staticmethod(watched)})
    softmax = torch.softmax
    monkeypatch.setattr(torch, "softmax", lambda x, dim: seen.setdefault("weights", softmax(x, dim)))
    drawn = variant.task.sample(stream(0, "diagnostics", variant.task_name, 32), 2**20 // 32, 32)
    model({name: torch.from_numpy(array[:50]) for name, array in drawn.items()})
    moments = inside["moments"].set_index(["length", "where"])
    for where in ("before", "after"):
        values = seen[where].detach().double().numpy()
        row = moments.loc[(32, where)]
        assert row["mean"] == pytest.approx(values.mean(), abs=1e-5)
        assert row["variance"] == pytest.approx(values.var(axis=1).mean(), rel=1e-4)
        assert row["variance_se"] == pytest.approx(stats.sem(values.var(axis=1)), rel=1e-3)
        shown = inside["features"].query("length == 32 and where == @where")
        wide = shown["value"].to_numpy().reshape(50, 5)
        np.testing.assert_allclose(wide, values[:, :5], rtol=0, atol=1e-5)
        assert shown["feature"].tolist() == [0, 1, 2, 3, 4] * 50
    heat = inside["attention"].query("length == 32").pivot(index="sequence", columns="rank", values="weight")
    expected = -np.sort(-seen["weights"][:7].squeeze(1).detach().numpy(), axis=1)[:, :16]
    np.testing.assert_allclose(heat.to_numpy(), expected, rtol=0, atol=5e-6)
    short = inside["attention"].query("length == 4")
    assert short["rank"].max() == 4


def test_more_diagnostic_sequences_begin_with_the_fewer(trained):
    evaluated, weights, plan = trained
    one = models(plan, {name: tensor[:1].float() for name, tensor in weights.items()})
    more = diagnose(replace(evaluated, diagnostics=Diagnostics(sequences=80, heatmap_sequences=7)), one)
    fewer = diagnose(evaluated, one)
    for length in LENGTHS:
        few, many = (each["features"].query("where == 'after'").groupby("length") for each in (fewer, more))
        values, first = few.get_group(length)["value"], many.get_group(length)["value"][:250]
        np.testing.assert_allclose(values, first, rtol=0, atol=1e-6)
