"""Models whose failure is known: what puts them right, and what does not."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small import SHARP, WIDTH, make_trained

from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.inference.temperature import UNCHANGED
from vanishing_variance.measure.interventions import names, setting
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.moments import Move, by_form, correct, moments
from vanishing_variance.measure.interventions.names import FORMS, PLACES
from vanishing_variance.measure.interventions.parts import Parts
from vanishing_variance.measure.interventions.sequences import drawn
from vanishing_variance.measure.interventions.setting import Calibration, on_long, on_training

SEQUENCES = 40
DRAWN = drawn(np.random.default_rng(9), SEQUENCES, Interventions(sequences=SEQUENCES, training_sequences=SEQUENCES))


def make_models(task="argmax", norm="none"):
    trained = make_trained(task, norm, SHARP[task])
    return Models.of(trained.variant, trained.weights)


def by_hand():
    """Two classes: O is the hidden layer; the head asks whether the GELU of feature 0 is above 1.05: then class 1."""
    one = make_models()
    weights = {name: torch.zeros_like(tensor) for name, tensor in one.weights.items()}
    for name in ("item.2.weight", "attention.value", "attention.output", "head.0.weight"):
        weights[name] += torch.eye(WIDTH)
    weights["head.2.weight"][:, 1, 0] = 1.0
    weights["head.2.bias"] += torch.tensor([0.0, -1.05, *[-100.0] * 8])
    return replace(one, weights=weights)


def parts_by_hand(scale, weight, seed=0, sequences=SEQUENCES):
    """Targets with feature 0 at 2 (class 1) or 0.5 (class 0), the other items at 0.5, all times `scale`.

    A model `by_hand` is right at a scale of 1 and a target's weight near 1; else it says 0, and half is right.
    """
    labels = torch.from_numpy(np.random.default_rng(seed).permutation(sequences) % 2)
    target, rest = torch.zeros(2, sequences, WIDTH), torch.zeros(2, sequences, WIDTH)
    target[:, :, 0] = torch.where(labels == 1, 2.0, 0.5)
    rest[:, :, 0] = 0.5
    # a feature that is never read, so that the global deviation does not follow the class
    target[:, :, 1], rest[:, :, 1] = 6.0, 6.0
    target, rest = scale * target, scale * rest
    weights = torch.full((2, sequences), weight)
    context = weight * target + (1 - weight) * rest
    largest, profile = rest.unsqueeze(2).repeat(1, 1, 15, 1), torch.full((2, sequences, 15), 1 / 15)
    return Parts(context, weights, target, rest, largest, profile, target, labels)


def found(tested, long, training, other=None, trained=None):
    """Accuracy of a model `by_hand` by intervention, and by place where moments are moved."""
    one = by_hand()
    calibration = [Calibration.of(one, parts) for parts in (long, training)]
    other = tested.weight if other is None else other
    rows = [
        *on_long(one, tested, *calibration, other, DRAWN),
        *on_training(one, trained or tested, *calibration, DRAWN),
    ]
    assert {name for name, _, _ in rows} == {names.BASE, *names.RECOVERING, *names.DAMAGING}
    return {(name, where) if where in PLACES else name: right[0].double().mean().item() for name, where, right in rows}


@pytest.mark.parametrize("form", FORMS)
def test_a_move_gives_the_moments_that_it_ends_at(form):
    rng = torch.Generator().manual_seed(0)
    start, end = (torch.randn(2, 50, 6, generator=rng, dtype=torch.double) * scale + 1 for scale in (1.0, 3.0))
    was, wanted = by_form(start)[form], by_form(end)[form]
    moved = by_form(Move("before", was, wanted)(start))[form]
    torch.testing.assert_close(moved.mean, wanted.mean)
    torch.testing.assert_close(moved.deviation, wanted.deviation)
    if form == "global":
        assert wanted.mean.flatten().tolist() == pytest.approx(end.mean((1, 2)).tolist())
        assert wanted.deviation.flatten().tolist() == pytest.approx(end.std(2, correction=0).mean(1).tolist())
    flat = torch.ones(2, 5, 6, dtype=torch.double)
    assert torch.isfinite(Move("before", by_form(flat)[form], wanted)(flat)).all()


def test_moments_are_those_of_o_before_and_after_the_normaliser():
    one, context = make_models(norm="ln"), torch.randn(2, 20, WIDTH, generator=torch.Generator().manual_seed(0))
    outputs = one.network.outputs(one.weights, context)
    of, after = moments(one, context), one.network.normalise(one.weights, outputs)
    for form in FORMS:
        torch.testing.assert_close(of[form, "before"].deviation, by_form(outputs)[form].deviation)
        torch.testing.assert_close(of[form, "after"].deviation, by_form(after)[form].deviation)


def test_the_base_is_what_evaluation_answers(task_name):
    one = make_models(task_name, "ln")
    sequences = one.task.sample(np.random.default_rng(0), 50, 12)
    tested = Parts.of(one, [sequences])
    expected = one.answer(sequences, UNCHANGED).correct["plain"]
    assert torch.equal(correct(one, tested.context, tested.labels), expected)


@pytest.mark.parametrize(("scale", "accuracy"), [(1.0, 1.0), (0.1, 0.5)])
def test_what_another_sample_of_the_same_length_has_changes_nothing(scale, accuracy):
    tested, long, training = (parts_by_hand(scale, 0.95, seed) for seed in range(3))
    assert set(found(tested, long, training).values()) == {accuracy}


def test_a_head_that_needs_the_global_scale_alone_is_put_right_by_the_moments():
    long, training = parts_by_hand(0.1, 0.95), parts_by_hand(1.0, 0.95)
    accuracy = found(parts_by_hand(0.1, 0.95, 1), long, training, trained=parts_by_hand(1.0, 0.95, 2))
    for form in FORMS:
        for where in PLACES:
            assert accuracy[names.restored(form), where] == accuracy[names.both(form), where] == 1
            assert accuracy[names.damaged(form), where] == accuracy[names.kept_long(form), where] == 0.5
    # attention is right already
    for name in (names.BASE, names.TARGET, names.AVERAGED, names.ENTROPY, names.HARD, names.OTHER):
        assert accuracy[name] == 0.5
    assert accuracy[names.TRAINED_TARGET] == 1


def test_a_model_whose_attention_alone_is_broken_is_put_right_by_the_targets_weight():
    long, training = parts_by_hand(1.0, 0.1), parts_by_hand(1.0, 0.95)
    other, trained = torch.full((2, SEQUENCES), 0.95), parts_by_hand(1.0, 0.95, 2)
    accuracy = found(parts_by_hand(1.0, 0.1, 1), long, training, other, trained)
    for name in (names.TARGET, names.OTHER, names.HARD):
        assert accuracy[name] == 1
    for name in (names.BASE, names.AVERAGED, names.ENTROPY, names.TRAINED_TARGET):
        assert accuracy[name] == 0.5
    assert accuracy[names.restored("global"), "before"] == accuracy[names.kept_long("feature"), "before"] == 0.5


def test_what_is_averaged_and_what_is_peaked():
    """The rest differs between sequences, the largest distractor has a weight of its own."""
    tested, training = parts_by_hand(1.0, 0.5), parts_by_hand(1.0, 0.5)
    noise = torch.where(tested.labels == 1, -3.0, 3.0).view(1, -1, 1)
    spoilt = replace(tested, rest=tested.rest + noise, context=tested.weighted(tested.weight, tested.rest + noise))
    # the mean is that of the long length: of the training lengths it would leave none right
    accuracy = found(spoilt, spoilt, replace(training, rest=training.rest - 100))
    assert accuracy[names.BASE] == 0
    # without the noise 0.5 * 2 + 0.5 * 0.5 = 1.25, whose GELU is above 1.05, and 0.5: both right
    for name in (names.AVERAGED, names.TRAINED_TARGET_AVERAGED, names.ENTROPY):
        assert accuracy[name] == 1
    # the rest that is taken is that of the distractors' own hidden layers, by the weights of training
    peak = torch.zeros_like(training.profile)
    peak[:, :, 0] = 1
    largest = tested.largest.clone()
    largest[:, :, 0, 0] = 100
    accuracy = found(replace(tested, largest=largest), spoilt, replace(training, profile=peak))
    assert accuracy[names.ENTROPY] == 0.5
    # a sequence without distractors keeps its rest
    alone = replace(tested, largest=torch.zeros_like(tested.largest))
    assert found(alone, tested, tested)[names.ENTROPY] == 1


def test_the_mean_rest_counts_a_sequence_by_the_weight_of_its_rest():
    rest = torch.stack([torch.full((2, WIDTH), 1.0), torch.full((2, WIDTH), 3.0)], 1)
    weight = torch.tensor([[0.0, 0.75], [0.5, 0.5]])
    uneven = replace(parts_by_hand(1.0, 0.5, sequences=2), rest=rest, weight=weight)
    assert Calibration.of(by_hand(), uneven).rest[:, 0, 0].tolist() == pytest.approx([1.4, 2.0])


@pytest.mark.parametrize("form", FORMS)
def test_moments_are_set_from_those_that_the_right_weight_leaves(form, monkeypatch):
    """With the weights of training, O has moments of its own, from which it goes to training's or the long length's."""
    one, long, short = by_hand(), parts_by_hand(0.1, 0.1), parts_by_hand(1.0, 0.95)
    moves = []

    def recorded(models, context, labels, move=None):
        moves.append((context, move))
        return correct(models, context, labels, move)

    monkeypatch.setattr(setting, "correct", recorded)
    calibrations = [Calibration.of(one, parts) for parts in (long, short)]
    order = [(name, where) for name, where, _ in on_long(one, long, *calibrations, long.weight, DRAWN)]
    for name, end in ((names.both(form), short), (names.kept_long(form), long)):
        context, move = moves[order.index((name, "before"))]
        moved = by_form(move(one.network.outputs(one.weights, context)))[form]
        wanted = moments(one, end.context)[form, "before"]
        torch.testing.assert_close(moved.mean, wanted.mean, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(moved.deviation, wanted.deviation, rtol=1e-4, atol=1e-5)
