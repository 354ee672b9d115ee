"""Models whose failure is known: what puts them right, and what does not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from small import SHARP, WIDTH, make_trained, models_of

from vanishing_variance.measure.interventions import names
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.moments import Move, by_form, is_correct
from vanishing_variance.measure.interventions.names import FORMS, PLACES
from vanishing_variance.measure.interventions.parts import Parts, take_apart
from vanishing_variance.measure.interventions.setting import calibrate, draw_donors, on_long, on_training

SEQUENCES = 40
SETTINGS = Interventions(sequences=SEQUENCES, training_sequences=SEQUENCES)
DONORS = draw_donors(np.random.default_rng(9), SEQUENCES, SETTINGS, heads=1)


def by_hand():
    """Two classes: O is the hidden layer; the head asks whether the GELU of feature 0 is above 1.05: then class 1."""
    models = models_of(make_trained())
    weights = {name: torch.zeros_like(tensor) for name, tensor in models.weights.items()}
    for name in ("item.2.weight", "attention.value", "attention.output", "head.0.weight"):
        weights[name] += torch.eye(WIDTH)
    weights["head.2.weight"][:, 1, 0] = 1.0
    weights["head.2.bias"] += torch.tensor([0.0, -1.05, *[-100.0] * 8])
    return replace(models, weights=weights)


def parts_by_hand(scale, weight, seed=0, sequences=SEQUENCES):
    """Targets with feature 0 at 2 (class 1) or 0.5 (class 0), the other items at 0.5, all times `scale`.

    A model `by_hand` is right at a scale of 1 and a target's weight near 1; else it says 0, and half is right.
    """
    labels = torch.from_numpy(np.random.default_rng(seed).permutation(sequences) % 2)
    target = torch.zeros(2, sequences, WIDTH)
    target[:, :, 0] = torch.where(labels == 1, 2.0, 0.5)
    # a feature that is never read, so that the global deviation does not follow the class
    target[:, :, 1] = 6.0
    rest = target.clone()
    rest[:, :, 0] = 0.5
    target, rest = scale * target, scale * rest
    return Parts(
        context=weight * target + (1 - weight) * rest,
        weight=torch.full((2, sequences), weight),
        target=target,
        rest=rest,
        hard=target,
        labels=labels,
    )


def accuracies(tested, long, training, other=None, trained=None):
    """Return the accuracy of a model `by_hand` by intervention, and by place where moments are moved."""
    models = by_hand()
    of_long, of_training = calibrate(models, long), calibrate(models, training)
    other = tested.weight if other is None else other
    outcomes = [
        *on_long(models, tested, of_long, of_training, other, DONORS),
        *on_training(models, trained or tested, of_long, of_training, DONORS),
    ]
    found = {}
    for name, where, correct in outcomes:
        key = (name, where) if where in PLACES else name
        found[key] = correct[0].double().mean().item()
    return found


@pytest.mark.parametrize("form", FORMS)
def test_a_move_gives_the_moments_that_it_ends_at(form):
    rng = torch.Generator().manual_seed(0)
    start = torch.randn(2, 50, 6, generator=rng, dtype=torch.double) + 1
    end = torch.randn(2, 50, 6, generator=rng, dtype=torch.double) * 3 + 1
    wanted = by_form(end)[form]
    moved = Move("before", by_form(start)[form], wanted)(start)
    found = by_form(moved)[form]
    torch.testing.assert_close(found.mean, wanted.mean)
    torch.testing.assert_close(found.deviation, wanted.deviation)


def test_the_global_moments_are_over_the_features_of_a_sequence():
    outputs = torch.randn(2, 50, 6, generator=torch.Generator().manual_seed(0))
    moments = by_form(outputs)["global"]
    torch.testing.assert_close(moments.mean.flatten(), outputs.mean((1, 2)))
    torch.testing.assert_close(moments.deviation.flatten(), outputs.std(2, correction=0).mean(1))


def test_the_base_is_what_evaluation_answers(task_name):
    models = models_of(make_trained(task_name, "ln", SHARP[task_name]))
    sequences = models.task.sample(np.random.default_rng(0), 50, 12)
    tested = take_apart(models, [sequences])
    expected = models.correct(sequences, models.attended(sequences))["last"]
    assert torch.equal(is_correct(models, tested.context, tested.labels), expected)


@pytest.mark.parametrize(("scale", "accuracy"), [(1.0, 1.0), (0.1, 0.5)])
def test_what_another_sample_of_the_same_length_has_changes_nothing(scale, accuracy):
    tested, long, training = (parts_by_hand(scale, 0.95, seed) for seed in range(3))
    assert set(accuracies(tested, long, training).values()) == {accuracy}


def test_a_head_that_needs_the_global_scale_alone_is_put_right_by_the_moments():
    long, training = parts_by_hand(0.1, 0.95), parts_by_hand(1.0, 0.95)
    accuracy = accuracies(parts_by_hand(0.1, 0.95, 1), long, training, trained=parts_by_hand(1.0, 0.95, 2))
    for form, where in product(FORMS, PLACES):
        assert accuracy[names.restored(form), where] == 1
        assert accuracy[names.both(form), where] == 1
        assert accuracy[names.damaged(form), where] == 0.5
        assert accuracy[names.kept_long(form), where] == 0.5
    # attention is right already
    for name in (names.BASE, names.TARGET, names.AVERAGED, names.HARD, names.OTHER):
        assert accuracy[name] == 0.5
    assert accuracy[names.TRAINED_TARGET] == 1


def test_a_model_whose_attention_alone_is_broken_is_put_right_by_the_targets_weight():
    long, training = parts_by_hand(1.0, 0.1), parts_by_hand(1.0, 0.95)
    other = torch.full((2, SEQUENCES), 0.95)
    accuracy = accuracies(parts_by_hand(1.0, 0.1, 1), long, training, other, parts_by_hand(1.0, 0.95, 2))
    for name in (names.TARGET, names.OTHER, names.HARD):
        assert accuracy[name] == 1
    for name in (names.BASE, names.AVERAGED, names.TRAINED_TARGET):
        assert accuracy[name] == 0.5
    assert accuracy[names.restored("global"), "before"] == 0.5
    assert accuracy[names.kept_long("feature"), "before"] == 0.5


def test_what_the_noise_of_the_rest_spoils_its_mean_puts_right():
    """The mean of the long length: that of the training lengths would leave none right."""
    training = parts_by_hand(1.0, 0.5)
    noise = torch.where(training.labels == 1, -3.0, 3.0).view(1, -1, 1)
    rest = training.rest + noise
    spoilt = replace(training, rest=rest, context=training.weighted(training.weight, rest))
    accuracy = accuracies(spoilt, spoilt, replace(training, rest=training.rest - 100))
    assert accuracy[names.BASE] == 0
    for name in (names.AVERAGED, names.TRAINED_TARGET_AVERAGED):
        assert accuracy[name] == 1


def test_the_mean_rest_counts_a_sequence_by_the_weight_of_its_rest():
    rest = torch.tensor([1.0, 3.0]).view(1, 2, 1).expand(2, 2, WIDTH)
    weight = torch.tensor([[0.0, 0.75], [0.5, 0.5]])
    parts = replace(parts_by_hand(1.0, 0.5, sequences=2), rest=rest, weight=weight)
    assert calibrate(by_hand(), parts).rest[:, 0, 0].tolist() == pytest.approx([1.4, 2.0])
