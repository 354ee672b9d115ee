from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import special, stats
from small import SHARP, clear, make_trained, plainly, rows_of, single

from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.evaluation.fit import CANDIDATES, FitPlan, fit_block, fitted, mistakes
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.inference.sequences import sample_batches
from vanishing_variance.measure.inference.temperature import PUBLISHED, UNCHANGED


def test_a_polynomial_of_degree_four_is_found_again():
    h = np.linspace(0.6, 6, 200)
    beta = np.polyval(PUBLISHED.polynomial, h)
    found = fitted(np.stack((h, beta), axis=1))
    np.testing.assert_allclose(found.polynomial, PUBLISHED.polynomial, rtol=0, atol=1e-6)
    assert (found.lowest, found.highest) == (0.6, 6.0)


@pytest.mark.parametrize("count", [0, 8])
def test_too_few_mistakes_leave_the_softmax_as_it_is(count):
    mistakes = np.linspace(1, 5, 2 * count).reshape(count, 2)
    assert fitted(mistakes) == replace(UNCHANGED, mistakes=count)


def test_the_best_beta_of_each_mistake_is_that_of_the_plain_module(task_name):
    """A third of the labels are the plain module's answers, the others are not."""
    trained = make_trained(task_name, "ln", 2 * SHARP[task_name])
    drawn = trained.variant.task.sample(stream(0, "here"), 80, 12)
    plain = plainly(trained, drawn)
    entropy = stats.entropy(plain["weights"][0], axis=-1)
    sure = clear(plain["classes"][0]) & (abs(entropy - 0.5) > 0.01)
    drawn, entropy = rows_of(drawn, sure), entropy[sure]
    answers = plain["classes"][0, sure].argmax(-1)
    shift = np.arange(len(answers)) % 3
    labels = (answers + shift) % trained.variant.task.num_classes
    wrong = (shift > 0) & (entropy > 0.5)
    assert 0 < wrong.sum() < (shift > 0).sum()

    models = Models.of(trained.variant, single(trained, 0))
    found = mistakes(models, *models.encode(drawn), torch.from_numpy(labels))
    np.testing.assert_allclose(found[:, 0], entropy[wrong], rtol=0, atol=1e-3)

    # the label's log-probability with the beta that was found, and with each candidate
    best = []
    for beta in CANDIDATES:
        classes = plainly(trained, drawn, lambda logits, beta=beta: torch.softmax(beta * logits, -1))["classes"][0]
        of_label = special.log_softmax(classes, axis=-1)[range(len(labels)), labels]
        best.append(of_label[wrong])
    chosen = np.searchsorted(CANDIDATES, found[:, 1] * 0.999)
    of_chosen = np.array(best)[chosen, range(len(found))]
    np.testing.assert_allclose(of_chosen, np.max(best, axis=0), rtol=0, atol=1e-3)
    assert (CANDIDATES[0], CANDIDATES[-1]) == (1, 16)


def mistakes_of(trained, place, lengths):
    """Return the mistakes of one model on 30 sequences of each length, of the stream of their own."""
    models = Models.of(trained.variant, single(trained, place))
    parts = []
    for length in lengths:
        rng = stream(0, "temperature", "argmax", length)
        [drawn] = sample_batches(models.task, rng, 30, length, 30)
        labels = torch.from_numpy(models.task.label(drawn))
        parts.append(mistakes(models, *models.encode(drawn), labels))
    return np.concatenate(parts)


def test_a_half_has_the_polynomial_of_the_other_halfs_mistakes_on_sequences_of_their_own():
    trained = make_trained("argmax", "ln", SHARP["argmax"])
    found = fit_block(FitPlan("test", 0, trained.variant, [8, 12], 30), trained.weights)
    assert found["first"] == fitted(mistakes_of(trained, 1, [8, 12]))
    assert found["second"] == fitted(mistakes_of(trained, 0, [8, 12]))
    assert found["first"] != found["second"]
    assert len(found["first"].polynomial) == 5


def test_of_one_model_there_is_no_other_half():
    trained = make_trained("argmax", "ln", SHARP["argmax"])
    found = fit_block(FitPlan("test", 0, trained.variant, [8], 20), single(trained, 0))
    assert found["first"] == UNCHANGED
