import numpy as np
import pytest
import torch
from scipy import special, stats
from small import SHARP, clear, make_solved, make_trained, plainly, single

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness import parallel
from vanishing_variance.measure.evaluation.fit import CANDIDATES, FitPlan, fit_block, fitted, mistakes
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.inference.sequences import sample_batches
from vanishing_variance.measure.inference.temperature import UNCHANGED


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)


def test_a_polynomial_of_degree_four_is_found_again():
    h = np.linspace(0.6, 6, 200)
    published = np.array([-0.037, 0.481, -2.3, 4.917, -1.791])
    found = fitted(np.stack((h, np.polyval(published, h)), axis=1))
    np.testing.assert_allclose(found.polynomial, published, rtol=0, atol=1e-6)
    assert (found.lowest, found.highest) == (0.6, 6.0)


@pytest.mark.parametrize("count", [0, 8])
def test_too_few_mistakes_leave_the_softmax_as_it_is(count):
    assert fitted(np.linspace(1, 5, 2 * count).reshape(count, 2)) == UNCHANGED


def test_the_best_beta_of_each_mistake_is_that_of_the_plain_module(task_name):
    """A third of the labels are the plain module's answers, the others are not."""
    trained = make_trained(task_name, "ln", 2 * SHARP[task_name])
    models, task = Models.of(trained.variant, single(trained, 0)), trained.variant.task
    drawn = task.sample(stream(0, "here"), 80, 12)
    by_beta = [plainly(trained, drawn, weigh=lambda z, beta=beta: torch.softmax(beta * z, -1)) for beta in CANDIDATES]
    classes = np.stack([of["classes"] for of in by_beta])
    entropy = stats.entropy(by_beta[0]["weights"], axis=-1)
    sure = clear(classes[0]) & (abs(entropy - 0.5) > 0.01)
    answers, entropy, drawn = classes[0].argmax(-1)[sure], entropy[sure], {n: of[sure] for n, of in drawn.items()}
    shift = np.arange(len(answers)) % 3
    labels = (answers + shift) % task.num_classes
    found = mistakes(models, *models.encode(drawn), torch.from_numpy(labels))
    wrong = (shift > 0) & (entropy > 0.5)
    assert 0 < wrong.sum() < (shift > 0).sum()
    np.testing.assert_allclose(found[:, 0], entropy[wrong], rtol=0, atol=1e-3)
    of_label = special.log_softmax(classes[:, sure], axis=-1)[:, np.arange(len(labels)), labels][:, wrong]
    chosen = np.searchsorted(CANDIDATES, found[:, 1] * 0.999)
    lost = of_label.max(axis=0) - of_label[chosen, np.arange(len(found))]
    assert lost.max() < 1e-3
    assert (CANDIDATES[0], CANDIDATES[-1]) == (1, 16)


def test_a_half_has_the_polynomial_of_the_other_halfs_mistakes_on_sequences_of_their_own():
    trained = make_trained("argmax", "ln", SHARP["argmax"])
    found = fit_block(FitPlan("test", 0, trained.variant, [8, 12], 30), trained.weights)
    task = trained.variant.task
    for half, other in (("first", 1), ("second", 0)):
        models, of_other = Models.of(trained.variant, single(trained, other)), []
        for length in (8, 12):
            [drawn] = sample_batches(task, stream(0, "temperature", "argmax", length), 30, length, 30)
            of_other.append(mistakes(models, *models.encode(drawn), torch.from_numpy(task.label(drawn))))
        every = np.concatenate(of_other)
        assert found[half] == (fitted(every), len(every))
    assert UNCHANGED not in (found["first"][0], found["second"][0])
    assert found["first"] != found["second"]
    # of one model there is no other half
    assert fit_block(FitPlan("test", 0, trained.variant, [8], 20), single(trained, 0))["first"] == (UNCHANGED, 0)


def test_fitting_to_mistakes_makes_them_fewer():
    """Of a model whose logits rise too slowly with the priority, on sequences that it was not fitted to."""
    trained = make_solved(slope=10)
    fits = fit_block(FitPlan("test", 0, trained.variant, [16, 64], 60), trained.weights)
    drawn = trained.variant.task.sample(stream(0, "here"), 200, 64)
    models = Models.of(trained.variant, trained.weights)
    for half in ("first", "second"):
        accuracy = models.accuracy(lambda size: iter([drawn]), 64, fits[half][0])
        assert (accuracy["fitted"] > accuracy["plain"] + 0.2).all()
