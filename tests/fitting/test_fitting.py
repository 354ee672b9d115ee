import numpy as np
import pytest
import torch
from scipy import stats
from small import make_plan

from vanishing_variance.core import parallel
from vanishing_variance.core.seeding import stream
from vanishing_variance.fitting import fit as fitting
from vanishing_variance.fitting.fit import CANDIDATES, FitPlan, fit_block, fitted, mistakes
from vanishing_variance.inference.models import Models
from vanishing_variance.inference.temperature import UNCHANGED
from vanishing_variance.model.initialisation import draw
from vanishing_variance.reference import Reference
from vanishing_variance.training import loop as training


@pytest.fixture
def briefly_trained(task_name):
    plan = make_plan(task_name, "ln", steps=60)
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, task_name, [0, 1])
    training.train(plan, weights, [0, 1])
    return plan.variant, {name: tensor.numpy() for name, tensor in weights.items()}


def test_a_polynomial_of_degree_four_is_found_again():
    h = np.linspace(0.6, 6, 200)
    published = np.array([-0.037, 0.481, -2.3, 4.917, -1.791])
    found = fitted(np.stack((h, np.polyval(published, h)), axis=1))
    np.testing.assert_allclose(found.polynomial, published, rtol=0, atol=1e-6)
    assert (found.lowest, found.highest) == (0.6, 6.0)


@pytest.mark.parametrize("count", [0, 8])
def test_too_few_mistakes_leave_the_softmax_as_it_is(count):
    assert fitted(np.linspace(1, 5, 2 * count).reshape(count, 2)) == UNCHANGED


def test_the_best_beta_of_each_mistake_is_that_of_the_plain_module(briefly_trained, monkeypatch):
    variant, weights = briefly_trained
    one = {name: array[:1] for name, array in weights.items()}
    models, drawn = Models.of(variant, one), variant.task.sample(stream(0, "here"), 80, 40)
    labels = torch.from_numpy(variant.task.label(drawn))
    found = mistakes(models, *models.encode(drawn), labels)
    model = Reference(variant.task, variant.network().norm, variant.model, 16)
    model.load({name: torch.from_numpy(array) for name, array in one.items()}, 0)
    softmax, seen, by_beta = torch.softmax, {}, []
    for beta in CANDIDATES:
        monkeypatch.setattr(torch, "softmax", lambda x, dim, beta=beta: seen.setdefault(beta, softmax(beta * x, dim)))
        logits = model({name: torch.from_numpy(array) for name, array in drawn.items()}).detach().double()
        by_beta.append(torch.log_softmax(logits, -1)[torch.arange(80), labels])
        if beta == 1:
            spread = stats.entropy(seen[1.0].detach(), axis=-1)
            wrong = (logits.argmax(-1) != labels).numpy() & (spread > 0.5)
    assert len(found) == wrong.sum() > 10
    np.testing.assert_allclose(found[:, 0], spread[wrong], rtol=0, atol=1e-3)
    each = torch.stack(by_beta)[:, torch.from_numpy(wrong)]
    chosen = [np.abs(np.array(CANDIDATES) - beta).argmin() for beta in found[:, 1]]
    lost = each.max(0).values - each[chosen, torch.arange(len(chosen))]
    assert lost.max() < 1e-4


def test_a_half_is_tested_with_what_the_other_halfs_mistakes_gave_on_sequences_of_their_own(
    briefly_trained, monkeypatch
):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    variant, weights = briefly_trained
    plan = FitPlan("test", 0, variant, [8, 64], 200)
    found = fit_block(plan, weights)
    assert fit_block(plan, weights) == found
    assert found["first"] != found["second"]
    exchanged = fit_block(plan, {name: array[::-1].copy() for name, array in weights.items()})
    assert exchanged == {"first": found["second"], "second": found["first"]}
    for place, half in ((0, "first"), (1, "second")):  # its own mistakes do not matter
        changed = {name: array.copy() for name, array in weights.items()}
        for array in changed.values():
            array[place] *= np.float32(1.5)
        refitted = fit_block(plan, changed)
        assert refitted[half] == found[half]
        assert refitted != found
    streams = []
    monkeypatch.setattr(fitting, "stream", lambda *name: streams.append(name) or stream(*name))
    fit_block(plan, weights)
    assert {name[1] for name in streams} == {"temperature"}


def test_fitting_to_mistakes_makes_them_fewer(monkeypatch):
    """The point of it, on sequences that it was not fitted to."""
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    plan = make_plan("argmax", "none", steps=600)
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, "argmax", [0, 1])
    training.train(plan, weights, [0, 1])
    arrays = {name: tensor.numpy() for name, tensor in weights.items()}
    fits = fit_block(FitPlan("test", 0, plan.variant, [16, 128], 200), arrays)
    drawn = plan.variant.task.sample(stream(0, "test"), 1000, 128)
    for half, place in (("first", [0]), ("second", [1])):
        models = Models.of(plan.variant, {name: array[place] for name, array in arrays.items()})
        accuracy = models.accuracy(lambda size: iter([drawn]), 128, fits[half][0])
        assert accuracy["fitted"].mean() > accuracy["plain"].mean() + 0.02


def test_without_another_half_the_softmax_stays_as_it_is(briefly_trained, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    variant, weights = briefly_trained
    one = {name: array[:1] for name, array in weights.items()}
    assert fit_block(FitPlan("test", 0, variant, [8, 64], 200), one)["first"] == (UNCHANGED, 0)


def test_mistakes_that_are_never_sharpened_are_left_out(briefly_trained):
    variant, weights = briefly_trained
    one = {name: array[:1] for name, array in weights.items()}
    one["attention.key"] = one["attention.key"] * np.float32(1e4)  # all attention on one item, mostly a wrong one
    models, drawn = Models.of(variant, one), variant.task.sample(stream(0, "here"), 80, 40)
    found = mistakes(models, *models.encode(drawn), torch.from_numpy(variant.task.label(drawn)))
    assert len(found) < 10
