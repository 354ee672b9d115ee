"""Interventions: the parts of an output, models whose failure is known, and the rows that are measured."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from small import SHARP, WIDTH, Trained, make_trained, models_of, plan_of, sample, single
from torch.testing import assert_close

from vanishing_variance.measure.config import Interventions
from vanishing_variance.measure.inference.models import CORRECT
from vanishing_variance.measure.inference.sequences import of_length
from vanishing_variance.measure.interventions import measurement, names
from vanishing_variance.measure.interventions import parts as module
from vanishing_variance.measure.interventions.measurement import intervene
from vanishing_variance.measure.interventions.moments import Move, by_form, is_correct
from vanishing_variance.measure.interventions.parts import Parts, take_apart
from vanishing_variance.measure.interventions.setting import calibrate, draw_donors, on_long, on_training
from vanishing_variance.tasks.argmax import Argmax

SEQUENCES = 40
SETTINGS = Interventions(sequences=SEQUENCES, training_sequences=SEQUENCES)
DONORS = draw_donors(np.random.default_rng(9), SEQUENCES, SETTINGS, heads=1)
# Of what is measured.
FEW = Interventions(sequences=20, training_sequences=30)
LENGTHS = (1, 6, 50)
CLOSE = {"rtol": 1e-3, "atol": 1e-4}


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
        labels=labels,
    )


def accuracies(tested, long, training, other=None, trained=None):
    """Return the accuracy of a model `by_hand` by intervention."""
    models = by_hand()
    of_long, of_training = calibrate(models, long), calibrate(models, training)
    other = tested.weight if other is None else other
    outcomes = [
        *on_long(models, tested, of_long, of_training, other, DONORS),
        *on_training(models, trained or tested, of_long, of_training, DONORS),
    ]
    found = {}
    for name, where, correct in outcomes:
        assert (where == names.BEFORE) == ("moments" in name)
        found[name] = correct[0].double().mean().item()
    return found


@pytest.mark.parametrize("form", names.FORMS)
def test_a_move_gives_the_moments_that_it_ends_at(form):
    rng = torch.Generator().manual_seed(0)
    start = torch.randn(2, 50, 6, generator=rng, dtype=torch.double) + 1
    end = torch.randn(2, 50, 6, generator=rng, dtype=torch.double) * 3 + 1
    wanted = by_form(end)[form]
    moved = Move(by_form(start)[form], wanted)(start)
    found = by_form(moved)[form]
    torch.testing.assert_close(found.mean, wanted.mean)
    torch.testing.assert_close(found.deviation, wanted.deviation)


def test_the_base_is_what_evaluation_answers(task_name):
    models = models_of(make_trained(task_name, "ln", SHARP[task_name]))
    sequences = models.task.sample(np.random.default_rng(0), 50, 12)
    tested = take_apart(models, [sequences])
    expected = models.answers(sequences, models.attended(sequences))["last"] == CORRECT
    assert torch.equal(is_correct(models, tested.context, tested.labels), expected)


@pytest.mark.parametrize(("scale", "accuracy"), [(1.0, 1.0), (0.1, 0.5)])
def test_what_another_sample_of_the_same_length_has_changes_nothing(scale, accuracy):
    tested, long, training = (parts_by_hand(scale, 0.95, seed) for seed in range(3))
    assert set(accuracies(tested, long, training).values()) == {accuracy}


def test_a_head_that_needs_the_global_scale_alone_is_put_right_by_the_moments():
    long, training = parts_by_hand(0.1, 0.95), parts_by_hand(1.0, 0.95)
    accuracy = accuracies(parts_by_hand(0.1, 0.95, 1), long, training, trained=parts_by_hand(1.0, 0.95, 2))
    for form in names.FORMS:
        assert accuracy[names.restored(form)] == 1
        assert accuracy[names.both(form)] == 1
        assert accuracy[names.damaged(form)] == 0.5
        assert accuracy[names.kept_long(form)] == 0.5
    # attention is right already
    for name in (names.BASE, names.TARGET, names.OTHER):
        assert accuracy[name] == 0.5
    assert accuracy[names.TRAINED_TARGET] == 1


def test_a_model_whose_attention_alone_is_broken_is_put_right_by_the_targets_weight():
    long, training = parts_by_hand(1.0, 0.1), parts_by_hand(1.0, 0.95)
    other = torch.full((2, SEQUENCES), 0.95)
    accuracy = accuracies(parts_by_hand(1.0, 0.1, 1), long, training, other, parts_by_hand(1.0, 0.95, 2))
    for name in (names.TARGET, names.OTHER):
        assert accuracy[name] == 1
    for name in (names.BASE, names.TRAINED_TARGET):
        assert accuracy[name] == 0.5
    assert accuracy[names.restored("global")] == 0.5
    assert accuracy[names.kept_long("feature")] == 0.5


def densely(models, sequences):
    """Return weights (S, B, N) and hidden layers (S, B, N, D), in double precision."""
    items, query = models.encode(sequences)
    hidden = items.hidden().double()
    logits = torch.linalg.vecdot(hidden, query.double().unsqueeze(2))
    return torch.softmax(logits, -1), hidden


@pytest.mark.parametrize(("length", "heads"), [(2, 1), (9, 2), (40, 1)])
def test_they_are_what_a_dense_average_consists_of(task_name, length, heads, monkeypatch):
    monkeypatch.setattr(module, "CLOSE", 0.5)
    trained = make_trained(task_name, sharpness=SHARP[task_name], heads=heads)
    models, sequences = models_of(trained), sample(trained, 30, length)
    weights, hidden = densely(models, sequences)
    parts = take_apart(models, [sequences])

    rows, target = torch.arange(30 * heads), torch.from_numpy(sequences["target"]).repeat_interleave(heads)
    weight = weights[:, rows, target]
    assert_close(parts.weight.double(), weight, **CLOSE)
    assert_close(parts.target.double(), hidden[:, rows, target], **CLOSE)
    assert_close(parts.weighted(parts.weight), parts.context, **CLOSE)

    others = weights.clone()
    others[:, rows, target] = 0
    rest = torch.einsum("sbn,sbnd->sbd", others / others.sum(-1, keepdim=True), hidden)
    assert_close(parts.rest.double(), rest, **CLOSE)


def read(task, length, size):
    """Yield the test sequences of a length, a part at a time, as from a file."""
    yield from of_length(task, np.random.default_rng(0), 40, length, size)


def intervened(ours, partner, seeds=(4, 5)):
    """Return the accuracies of models under every intervention."""
    blocks = (measurement.Trained(plan_of(one, 2, 6), one.weights) for one in (ours, partner))
    sequences = {length: partial(read, ours.variant.task, length) for length in LENGTHS}
    return intervene(*blocks, sequences, seeds, FEW)


@pytest.mark.parametrize(("task_name", "heads"), [("argmax", 1), ("dictionary", 2)])
def test_a_row_an_intervention_model_and_length_the_same_for_a_seed_alone(task_name, heads):
    none, ln = (make_trained(task_name, norm, heads=heads) for norm in ("none", "ln"))
    accuracy = intervened(ln, none)
    assert set(accuracy["length"]) == {0, *LENGTHS}
    assert set(accuracy["intervention"]) == {names.BASE, *names.RECOVERING, *names.DAMAGING}
    assert accuracy.groupby("length").size().tolist() == [2, 24, 24, 24]

    second = [Trained(models.variant, single(models, 1)) for models in (ln, none)]
    alone = intervened(*second, seeds=[5])
    pd.testing.assert_frame_equal(alone, accuracy[accuracy["seed"] == 5].reset_index(drop=True))


def test_the_partner_gives_its_target_weights_and_nothing_else():
    none, ln = make_trained("argmax", "none"), make_trained("argmax", "ln", SHARP["argmax"])
    places = ["seed", "length", "intervention", "where"]
    with_own, with_other = (intervened(none, partner).set_index(places)["accuracy"] for partner in (none, ln))
    differ = with_own[with_own != with_other].index.get_level_values("intervention")
    assert set(differ) == {names.OTHER}
    base, other = (with_own.xs(name, level="intervention").droplevel("where") for name in (names.BASE, names.OTHER))
    assert (other == base[other.index]).all()  # the weights that they have anyway


def test_the_first_sequences_are_tested_and_others_calibrated_with(monkeypatch):
    """Two samples of the training lengths and two of each length, of which no two have a query in common."""
    samples = {}

    def recorded(models, batches):
        queries = np.concatenate([batch["query"] for batch in batches])
        samples[queries.tobytes()] = set(queries.tolist())
        return take_apart(models, batches)

    monkeypatch.setattr(measurement, "take_apart", recorded)
    trained = make_trained("argmax", "none")
    intervened(trained, trained)
    assert sorted(map(len, samples.values())) == [20] * 6 + [30] * 2
    assert len(set().union(*samples.values())) == 20 * 6 + 30 * 2
    for length in LENGTHS:
        [stored] = read(Argmax(classes=10), length, 40)
        assert set(stored["query"][:20].tolist()) in samples.values()


class WithoutTarget(Argmax):
    """As argmax, but nobody says which item has the answer."""

    def sample(self, rng, sequences, length):
        drawn = super().sample(rng, sequences, length)
        return {name: drawn[name] for name in ("priority", "class", "query")}

    def label(self, batch):
        return super().label(batch | {"target": batch["priority"].argmax(axis=1)})


def test_without_a_target_what_is_not_about_it_is_the_same_and_nothing_else_is_measured():
    none, ln = (make_trained("argmax", norm) for norm in ("none", "ln"))
    without = [one._replace(variant=replace(one.variant, task=WithoutTarget(classes=10))) for one in (ln, none)]
    expected, found = (intervened(*pair) for pair in ((ln, none), without))
    of_both = expected["intervention"].isin(names.WITHOUT_TARGET)
    assert set(found["intervention"]) == set(names.WITHOUT_TARGET)
    pd.testing.assert_frame_equal(found, expected[of_both].reset_index(drop=True))
