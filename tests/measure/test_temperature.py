from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import special, stats
from small import SHARP, clear, make_trained, models_of, plainly, rows_of, sample, single

from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.evaluation.fit import CANDIDATES, fit_block, fitted, mistakes
from vanishing_variance.measure.inference.sequences import sample_batches
from vanishing_variance.measure.inference.temperature import PUBLISHED, UNCHANGED, Temperature, entropy


def test_beta_is_the_published_polynomial_where_it_sharpens():
    h = np.linspace(0, 12, 2001)
    polynomial = np.polyval([-0.037, 0.481, -2.3, 4.917, -1.791], h)
    expected = np.where(h > 0.5, np.maximum(polynomial, 1.0), 1.0)
    found = PUBLISHED.beta(torch.from_numpy(h)).numpy()
    assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert (UNCHANGED.beta(torch.from_numpy(h)) == 1).all()


def test_entropy_is_scipys_in_nats():
    logits = torch.randn(4, 3, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 4
    weights = torch.softmax(logits, -1).numpy()
    assert_allclose(entropy(logits).numpy(), stats.entropy(weights, axis=-1), rtol=0, atol=1e-12)
    assert entropy(torch.zeros(1, 16)).item() == pytest.approx(np.log(16))
    assert entropy(torch.tensor([[0.0, 1e4]])).item() == 0  # not NaN


def test_outside_the_fitted_entropies_the_nearest_ones_beta_is_taken():
    fitted = Temperature((-2.0, 9.0), lowest=1.0, highest=3.0)
    h = torch.tensor([0.4, 0.6, 1.0, 2.0, 3.0, 9.0], dtype=torch.float64)
    assert fitted.beta(h).tolist() == [1.0, 7.0, 7.0, 5.0, 3.0, 3.0]


def test_a_polynomial_of_degree_four_is_found_again():
    h = np.linspace(0.6, 6, 200)
    beta = np.polyval(PUBLISHED.polynomial, h)
    found = fitted(np.stack((h, beta), axis=1))
    assert_allclose(found.polynomial, PUBLISHED.polynomial, rtol=0, atol=1e-6)
    assert (found.lowest, found.highest) == (0.6, 6.0)


@pytest.mark.parametrize("count", [0, 8])
def test_too_few_mistakes_leave_the_softmax_as_it_is(count):
    mistakes = np.linspace(1, 5, 2 * count).reshape(count, 2)
    assert fitted(mistakes) == replace(UNCHANGED, mistakes=count)


def test_the_best_beta_of_each_mistake_is_that_of_the_plain_module(task_name):
    trained = make_trained(task_name, "ln", 2 * SHARP[task_name])
    drawn = sample(trained, 80, 12)
    plain = plainly(trained, drawn)
    entropies = stats.entropy(plain["weights"][0], axis=-1)
    sure = clear(plain["classes"][0]) & (abs(entropies - 0.5) > 0.01)
    drawn, entropies = rows_of(drawn, sure), entropies[sure]
    labels = plain["classes"][0, sure].argmax(-1)
    labels[::2] = (labels[::2] + 1) % trained.variant.task.num_classes
    wrong = np.arange(len(labels)) % 2 == 0
    wrong &= entropies > 0.5
    assert 0 < wrong.sum() < len(labels) / 2

    models = models_of(trained, 0)
    found = mistakes(models, *models.encode(drawn), torch.from_numpy(labels))
    assert_allclose(found[:, 0], entropies[wrong], rtol=0, atol=1e-3)

    # the label's log-probability with each candidate: that which was found has the largest
    by_candidate = []
    for beta in CANDIDATES:
        classes = plainly(trained, drawn, lambda logits, beta=beta: torch.softmax(beta * logits, -1))["classes"][0]
        log_probabilities = special.log_softmax(classes, axis=-1)
        by_candidate.append(log_probabilities[range(len(labels)), labels][wrong])
    chosen = np.searchsorted(CANDIDATES, found[:, 1] * 0.999)
    of_chosen = np.array(by_candidate)[chosen, range(len(found))]
    assert_allclose(of_chosen, np.max(by_candidate, axis=0), rtol=0, atol=1e-3)


def mistakes_of(trained, place, lengths):
    """Return the mistakes of one model on 30 sequences of each length, of the stream of their own."""
    models = models_of(trained, place)
    parts = []
    for length in lengths:
        rng = stream(0, "temperature", "argmax", length)
        [drawn] = sample_batches(models.task, rng, 30, length, 30)
        labels = torch.from_numpy(models.task.label(drawn))
        parts.append(mistakes(models, *models.encode(drawn), labels))
    return np.concatenate(parts)


def test_a_half_has_the_polynomial_of_the_other_halfs_mistakes_on_sequences_of_their_own():
    trained = make_trained("argmax", "ln", SHARP["argmax"])
    found = fit_block("test", trained.variant, trained.weights, [8, 12], 30, 0)
    assert found["first"] == fitted(mistakes_of(trained, 1, [8, 12]))
    assert found["second"] == fitted(mistakes_of(trained, 0, [8, 12]))
    assert found["first"] != found["second"]
    assert len(found["first"].polynomial) == 5


def test_of_one_model_there_is_no_other_half():
    trained = make_trained("argmax", "ln", SHARP["argmax"])
    found = fit_block("test", trained.variant, single(trained, 0), [8], 20, 0)
    assert found["first"] == UNCHANGED
