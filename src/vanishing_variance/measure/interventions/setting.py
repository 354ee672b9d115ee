"""Every intervention on sequences of one long length, and on sequences of the training lengths.

S seeds, B tested sequences, T of the training lengths, C calibration sequences of the long length, D width, K the
largest distractors.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vanishing_variance.measure.inference.models import Models, to_device
from vanishing_variance.measure.interventions import names
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.moments import Moments, Move, is_correct, moments
from vanishing_variance.measure.interventions.parts import Parts

# The intervention, its place, and where the answers are correct.
Outcome = tuple[str, str, Bool[Tensor, "S _"]]


@dataclass(frozen=True)
class Calibration:
    """Moments, target weights and distractors of calibration sequences, none of which is tested.

    `rest`: the mean of what the other items contribute, over the mean of their weight. `moments`: of O, by form and
    place.
    """

    parts: Parts
    rest: Float[Tensor, "S 1 D"]
    moments: Mapping[tuple[str, str], Moments]


@dataclass(frozen=True)
class Donors:
    """The calibration sequence from which each sequence is given a target weight or a profile.

    One of the training lengths, for each tested sequence of a long length: `weight` and `profile`; and for each
    calibration sequence of the long length: `calibrated`. One of the long length, for each tested sequence of the
    training lengths: `damage`.
    """

    weight: Int64[Tensor, " B"]
    profile: Int64[Tensor, " B"]
    calibrated: Int64[Tensor, " C"]
    damage: Int64[Tensor, " T"]


def draw_donors(rng: np.random.Generator, tested: int, settings: Interventions) -> Donors:
    """Return donors that are drawn independently and uniformly, for `tested` sequences of a long length."""

    def draw(donors: int, number: int) -> Tensor:
        return to_device(rng.integers(donors, size=number))

    long, training = settings.sequences, settings.training_sequences
    return Donors(draw(training, tested), draw(training, tested), draw(training, long), draw(long, training))


def calibrate(models: Models, parts: Parts) -> Calibration:
    """Return the calibration of one sample of sequences."""
    weight = 1 - parts.weight.unsqueeze(-1)
    total = (weight * parts.rest).sum(1, keepdim=True)
    rest = total / weight.sum(1, keepdim=True).clamp(min=1e-12)
    return Calibration(parts, rest, moments(models, parts.context))


def on_long(
    models: Models,
    tested: Parts,
    long: Calibration,
    training: Calibration,
    other_weight: Float[Tensor, "S B"],
    donors: Donors,
) -> Iterator[Outcome]:
    """Yield every intervention on `tested` sequences of a long length.

    `other_weight`: the target's weights in another variant.
    """
    correct = partial(is_correct, models, labels=tested.labels)
    yield names.BASE, names.NOTHING, correct(tested.context)

    restored_context = tested.weighted(training.parts.weight[:, donors.weight])
    yield names.TARGET, names.ATTENTION, correct(restored_context)

    # the moments that O has at the long length once the target's weight is restored
    calibrated_context = long.parts.weighted(training.parts.weight[:, donors.calibrated])
    restored_moments = moments(models, calibrated_context)
    for form, where in product(names.FORMS, names.PLACES):
        of_long, of_training = long.moments[form, where], training.moments[form, where]
        of_restored = restored_moments[form, where]
        yield names.restored(form), where, correct(tested.context, move=Move(where, of_long, of_training))
        yield names.kept_long(form), where, correct(restored_context, move=Move(where, of_restored, of_long))
        yield names.both(form), where, correct(restored_context, move=Move(where, of_restored, of_training))

    yield names.AVERAGED, names.ATTENTION, correct(tested.weighted(tested.weight, long.rest))
    peaked = _peaked(tested, training.parts.profile[:, donors.profile])
    yield names.ENTROPY, names.ATTENTION, correct(tested.weighted(tested.weight, peaked))
    yield names.OTHER, names.ATTENTION, correct(tested.weighted(other_weight))
    yield names.HARD, names.ATTENTION, correct(tested.hard)


def on_training(
    models: Models, tested: Parts, long: Calibration, training: Calibration, donors: Donors
) -> Iterator[Outcome]:
    """Yield every intervention on `tested` sequences of the training lengths, with what a long length has."""
    correct = partial(is_correct, models, labels=tested.labels)
    for form, where in product(names.FORMS, names.PLACES):
        move = Move(where, training.moments[form, where], long.moments[form, where])
        yield names.damaged(form), where, correct(tested.context, move=move)

    weight = long.parts.weight[:, donors.damage]
    yield names.TRAINED_TARGET, names.ATTENTION, correct(tested.weighted(weight))
    yield names.TRAINED_TARGET_AVERAGED, names.ATTENTION, correct(tested.weighted(weight, long.rest))


def _peaked(tested: Parts, profile: Float[Tensor, "S B K"]) -> Float[Tensor, "S B D"]:
    """Return the largest distractors averaged by these weights, or by those of as many as a sequence has."""
    present = tested.largest.abs().sum(-1) > 0
    profile = torch.where(present, profile, torch.zeros_like(profile))
    total = profile.sum(-1, keepdim=True)
    averaged: Tensor = ((profile / total).unsqueeze(-2) @ tested.largest).squeeze(-2)
    return torch.where(total > 0, averaged, tested.rest)
