"""Oracles: models whose failure is known, and samples of the same length."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small import SHARP, make_trained

from vanishing_variance.inference.models import Models
from vanishing_variance.inference.temperature import UNCHANGED
from vanishing_variance.interventions import setting
from vanishing_variance.interventions.config import Interventions
from vanishing_variance.interventions.moments import Move, by_form, correct, moments
from vanishing_variance.interventions.parts import Parts
from vanishing_variance.interventions.sequences import drawn
from vanishing_variance.interventions.setting import Calibration, on_long, on_training
from vanishing_variance.study.interventions import (
    ATTENTION,
    AVERAGED,
    BASE,
    DAMAGING,
    ENTROPY,
    FORMS,
    HARD,
    OTHER,
    PLACES,
    RECOVERING,
    TARGET,
    TRAINED_TARGET,
    TRAINED_TARGET_AVERAGED,
    both,
    damaged,
    kept_long,
    restored,
)

HOW = Interventions(sequences=400, training_sequences=400)


def make_models(task="argmax", norm="ln"):
    trained = make_trained(task, norm, SHARP[task])
    return Models.of(trained.variant, trained.weights)


def sample(one, seed, length=12, sequences=400):
    return Parts.of(one, [one.task.sample(np.random.default_rng(seed), sequences, length)])


def found(one, tested, long, training, other=None, trained=None):
    """Accuracies of each model by intervention and place."""
    calibration = [Calibration.of(one, parts) for parts in (long, training)]
    chosen = drawn(np.random.default_rng(9), len(tested.labels), HOW)
    other = tested.weight if other is None else other
    rows = [
        *on_long(one, tested, *calibration, other, chosen),
        *on_training(one, trained or tested, *calibration, chosen),
    ]
    assert {name for name, _, _ in rows} == {BASE, *RECOVERING, *DAMAGING}
    return {(name, where): correct.double().mean(1).numpy() for name, where, correct in rows}


@pytest.mark.parametrize("form", FORMS)
def test_a_move_gives_the_moments_that_it_ends_at(form):
    rng = torch.Generator().manual_seed(0)
    start, end = (torch.randn(2, 50, 6, generator=rng, dtype=torch.double) * scale + 1 for scale in (1.0, 3.0))
    wanted = by_form(end)[form]
    moved = by_form(Move("before", by_form(start)[form], wanted)(start))[form]
    torch.testing.assert_close(moved.mean, wanted.mean)
    torch.testing.assert_close(moved.deviation, wanted.deviation)
    if form == "global":
        assert wanted.mean.flatten().tolist() == pytest.approx(end.mean((1, 2)).tolist())
        assert wanted.deviation.flatten().tolist() == pytest.approx(end.std(2, correction=0).mean(1).tolist())
    flat = torch.ones(2, 5, 6)
    still = Move("before", by_form(flat)[form], by_form(end.float())[form])
    assert torch.isfinite(still(flat)).all()


@pytest.mark.parametrize("norm", ["none", "ln"])
def test_moments_are_those_of_o_before_and_after_the_normaliser(norm):
    one = make_models(norm=norm)
    tested = sample(one, 0)
    outputs = one.network.outputs(one.weights, tested.context)
    found, after = moments(one, tested.context), one.network.normalise(one.weights, outputs)
    assert (norm == "none") == torch.equal(outputs, after)
    for where, of in (("before", outputs), ("after", after)):
        for form in FORMS:
            torch.testing.assert_close(found[form, where].deviation, by_form(of)[form].deviation)


def test_own_moments_and_own_weights_change_nothing(task_name):
    one = make_models(task_name)
    tested = sample(one, 0)
    calibration = Calibration.of(one, tested)
    outputs = one.network.outputs(one.weights, tested.context)
    for form in FORMS:
        for where in PLACES:
            move = Move(where, calibration.moments[form, where], calibration.moments[form, where])
            torch.testing.assert_close(move(outputs), outputs, rtol=1e-4, atol=1e-5)
    accuracy = found(one, tested, tested, tested)
    base = accuracy[BASE, "nothing"]
    for form in FORMS:
        for where in PLACES:
            for name in (restored(form), damaged(form)):
                np.testing.assert_allclose(accuracy[name, where], base, atol=1 / 400)
    np.testing.assert_allclose(accuracy[OTHER, ATTENTION], base, atol=1 / 400)


def test_the_base_is_what_evaluation_answers(task_name):
    one = make_models(task_name)
    sequences = one.task.sample(np.random.default_rng(0), 50, 40)
    tested = Parts.of(one, [sequences])
    expected = one.answer(sequences, UNCHANGED).correct["plain"]
    assert torch.equal(correct(one, tested.context, tested.labels), expected)


def by_hand(norm="none"):
    """Two classes: O has the target's class as a sign in feature 0; the head asks whether its GELU is above 1.05.

    It is right where O has its global scale of training, and answers always the same where O is ten times smaller.
    """
    one = make_models("argmax", norm)
    width, classes = 32, 10
    weights = {name: torch.zeros_like(tensor) for name, tensor in one.weights.items()}
    eye = torch.eye(width).expand(2, -1, -1)
    weights |= {"item.2.weight": eye, "attention.value": eye, "attention.output": eye, "head.0.weight": eye}
    # feature 0 is 2 for class 1 and 0.5 for all others, at its scale of training
    last = torch.zeros(2, classes, width)
    bias = torch.full((2, classes), -100.0)
    last[:, 1, 0], bias[:, 1], bias[:, 0] = 1.0, -1.05, 0.0
    weights |= {"head.2.weight": last, "head.2.bias": bias}
    return replace(one, weights=weights)


def parts_by_hand(scale, weight, sequences=400, seed=0):
    """Targets with feature 0 at 2 (class 1) or 0.5 (class 0); the other items have 0.5; all times `scale`."""
    labels = torch.from_numpy(np.random.default_rng(seed).permutation(sequences) % 2)
    target, rest = torch.zeros(2, sequences, 32), torch.zeros(2, sequences, 32)
    target[:, :, 0] = torch.where(labels == 1, 2.0, 0.5)
    rest[:, :, 0] = 0.5
    # features that are never read, so that the global deviation does not follow the class
    target[:, :, 1], rest[:, :, 1] = 6.0, 6.0
    target, rest = scale * target, scale * rest
    weights = torch.full((2, sequences), weight)
    context = weight * target + (1 - weight) * rest
    largest, profile = rest.unsqueeze(2).repeat(1, 1, 15, 1), torch.full((2, sequences, 15), 1 / 15)
    return Parts(context, weights, target, rest, largest, profile, target, labels)


def test_a_head_that_needs_the_global_scale_alone_is_put_right_by_global_moments():
    one, long, short = by_hand(), parts_by_hand(0.1, 0.95), parts_by_hand(1.0, 0.95)
    tested, trained = parts_by_hand(0.1, 0.95, seed=1), parts_by_hand(1.0, 0.95, seed=2)
    accuracy = found(one, tested, long, short, trained=trained)
    base = accuracy[BASE, "nothing"]
    assert (base < 0.6).all()
    for form in FORMS:
        assert (accuracy[restored(form), "before"] == 1).all()
        assert (accuracy[damaged(form), "before"] < 0.6).all()
    # attention is right already
    for name in (TARGET, AVERAGED, ENTROPY, HARD, OTHER):
        np.testing.assert_array_equal(accuracy[name, ATTENTION], base)
    assert (accuracy[TRAINED_TARGET, ATTENTION] == 1).all()


def test_a_model_whose_attention_alone_is_broken_is_put_right_by_the_targets_weight():
    one, long, short = by_hand(), parts_by_hand(1.0, 0.1), parts_by_hand(1.0, 0.95)
    tested, trained = parts_by_hand(1.0, 0.1, seed=1), parts_by_hand(1.0, 0.95, seed=2)
    accuracy = found(one, tested, long, short, torch.full((2, 400), 0.95), trained)
    base = accuracy[BASE, "nothing"]
    assert (base < 0.6).all()
    for name in (TARGET, OTHER, HARD):
        assert (accuracy[name, ATTENTION] == 1).all()
    for name in (AVERAGED, ENTROPY):
        np.testing.assert_array_equal(accuracy[name, ATTENTION], base)
    assert (accuracy[restored("global"), "before"] < 0.6).all()
    assert (accuracy[kept_long("feature"), "before"] < 0.6).all()
    assert (accuracy[TRAINED_TARGET, ATTENTION] < 0.6).all()


def test_placebo_moments_of_another_sample_of_the_same_length_change_accuracy_by_no_more_than_noise(task_name):
    one = make_models(task_name)
    tested, first, second = (sample(one, seed) for seed in range(3))
    accuracy = found(one, tested, first, second)
    base = accuracy[BASE, "nothing"]
    noise = 4 * np.sqrt(0.25 / 400)
    for form in FORMS:
        for where in PLACES:
            np.testing.assert_allclose(accuracy[restored(form), where], base, atol=noise)
            np.testing.assert_allclose(accuracy[damaged(form), where], base, atol=noise)


def test_what_is_averaged_and_what_is_peaked():
    """The rest differs between sequences, the largest distractor has a weight of its own."""
    one, tested, training = by_hand(), parts_by_hand(1.0, 0.5), parts_by_hand(1.0, 0.5)
    noise = torch.where(tested.labels == 1, -3.0, 3.0).view(1, -1, 1)
    spoilt = replace(tested, rest=tested.rest + noise, context=tested.weighted(tested.weight, tested.rest + noise))
    # the mean is that of the long length: of the training lengths it would leave none right
    accuracy = found(one, spoilt, spoilt, replace(training, rest=training.rest - 100))
    assert (accuracy[BASE, "nothing"] == 0).all()
    # without the noise 0.5 * 2 + 0.5 * 0.5 = 1.25, whose GELU is above 1.05, and 0.5: both right
    assert (accuracy[AVERAGED, ATTENTION] > 0.9).all()
    assert (accuracy[TRAINED_TARGET_AVERAGED, ATTENTION] > 0.9).all()
    assert (accuracy[ENTROPY, ATTENTION] == 1).all()
    # the rest that is taken is that of the distractors' own hidden layers, by the weights of training
    peak = torch.zeros_like(training.profile)
    peak[:, :, 0] = 1
    largest = tested.largest.clone()
    largest[:, :, 0, 0] = 100
    accuracy = found(one, replace(tested, largest=largest), spoilt, replace(training, profile=peak))
    np.testing.assert_allclose(accuracy[ENTROPY, ATTENTION], (tested.labels == 1).double().mean())


def test_the_mean_rest_counts_a_sequence_by_the_weight_of_its_rest():
    one, parts = by_hand(), parts_by_hand(1.0, 0.5, sequences=2)
    rest = torch.stack([torch.full((2, 32), 1.0), torch.full((2, 32), 3.0)], 1)
    uneven = replace(parts, rest=rest, weight=torch.tensor([[0.0, 0.75], [0.5, 0.5]]))
    assert Calibration.of(one, uneven).rest[:, 0, 0].tolist() == pytest.approx([1.4, 2.0])


def test_a_sequence_without_distractors_keeps_its_rest():
    one, tested = by_hand(), parts_by_hand(1.0, 0.95)
    alone = replace(tested, largest=torch.zeros_like(tested.largest))
    assert (found(one, alone, tested, tested)[ENTROPY, ATTENTION] == 1).all()


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
    chosen = drawn(np.random.default_rng(9), len(long.labels), HOW)
    names = [(name, where) for name, where, _ in on_long(one, long, *calibrations, long.weight, chosen)]
    for name, end in ((both(form), short), (kept_long(form), long)):
        context, move = moves[names.index((name, "before"))]
        moved = by_form(move(one.network.outputs(one.weights, context)))[form]
        wanted = moments(one, end.context)[form, "before"]
        torch.testing.assert_close(moved.mean, wanted.mean)
        torch.testing.assert_close(moved.deviation, wanted.deviation)
