"""Every intervention on sequences of one long length, and on sequences of the training lengths.

S seeds, B tested sequences, R calibration sequences of the training lengths, C of the long length, D width, K the
largest distractors.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.interventions import names
from vanishing_variance.measure.interventions.moments import Moments, Move, correct, moments
from vanishing_variance.measure.interventions.parts import Parts

# Intervention, place, and where the answers are right.
Found = Iterator[tuple[str, str, Bool[Tensor, "S B"]]]


@dataclass(frozen=True)
class Calibration:
    """Moments, target weights and distractors of calibration sequences, none of which is tested.

    `rest`: the mean of what the other items contribute, over the mean of their weight. `moments`: of O, by form and
    place.
    """

    parts: Parts
    rest: Float[Tensor, "S 1 D"]
    moments: Mapping[tuple[str, str], Moments]

    @classmethod
    def of(cls, models: Models, parts: Parts) -> "Calibration":
        """Return that of one sample of sequences."""
        left = 1 - parts.weight.unsqueeze(-1)
        rest = (left * parts.rest).sum(1, keepdim=True) / left.sum(1, keepdim=True).clamp(min=1e-12)
        return cls(parts, rest, moments(models, parts.context))


def on_long(
    models: Models,
    tested: Parts,
    long: Calibration,
    training: Calibration,
    other: Float[Tensor, "S B"],
    drawn: Mapping[str, Int64[Tensor, " _"]],
) -> Found:
    """Yield every intervention on `tested` sequences of a long length.

    `other`: the target's weights in another variant. `drawn`: which of the R calibration sequences a tested one has the
    target's `weight` of, and the `profile` of; and a calibration one of the long length the `calibrated` weight.
    """
    right = partial(correct, models, labels=tested.labels)
    right_weight = tested.weighted(training.parts.weight[:, drawn["weight"]])
    right_moments = moments(models, long.parts.weighted(training.parts.weight[:, drawn["calibrated"]]))
    yield names.BASE, names.NOTHING, right(tested.context)
    yield names.TARGET, names.ATTENTION, right(right_weight)
    for form, where in product(names.FORMS, names.PLACES):
        was, wanted, set_right = (of[form, where] for of in (long.moments, training.moments, right_moments))
        yield names.restored(form), where, right(tested.context, move=Move(where, was, wanted))
        yield names.kept_long(form), where, right(right_weight, move=Move(where, set_right, was))
        yield names.both(form), where, right(right_weight, move=Move(where, set_right, wanted))
    yield names.AVERAGED, names.ATTENTION, right(tested.weighted(tested.weight, long.rest))
    peaked = _peaked(tested, training.parts.profile[:, drawn["profile"]])
    yield names.ENTROPY, names.ATTENTION, right(tested.weighted(tested.weight, peaked))
    yield names.OTHER, names.ATTENTION, right(tested.weighted(other))
    yield names.HARD, names.ATTENTION, right(tested.hard)


def on_training(
    models: Models,
    tested: Parts,
    long: Calibration,
    training: Calibration,
    drawn: Mapping[str, Int64[Tensor, " _"]],
) -> Found:
    """Yield every intervention on `tested` sequences of the training lengths, with what a long length has.

    `drawn`: which of the C calibration sequences a tested one has the target's weight of, `damage`.
    """
    right = partial(correct, models, labels=tested.labels)
    weight = long.parts.weight[:, drawn["damage"]]
    for form, where in product(names.FORMS, names.PLACES):
        move = Move(where, training.moments[form, where], long.moments[form, where])
        yield names.damaged(form), where, right(tested.context, move=move)
    yield names.TRAINED_TARGET, names.ATTENTION, right(tested.weighted(weight))
    yield names.TRAINED_TARGET_AVERAGED, names.ATTENTION, right(tested.weighted(weight, long.rest))


def _peaked(tested: Parts, profile: Float[Tensor, "S B K"]) -> Float[Tensor, "S B D"]:
    """Return the largest distractors averaged by these weights, or by those of as many as there are."""
    there = tested.largest.abs().sum(-1) > 0
    profile = torch.where(there, profile, torch.zeros_like(profile))
    total = profile.sum(-1, keepdim=True)
    averaged: Tensor = ((profile / total).unsqueeze(-2) @ tested.largest).squeeze(-2)
    return torch.where(total > 0, averaged, tested.rest)
