"""Every intervention on sequences of one long length, and on sequences of the training lengths.

S seeds, B tested sequences, R calibration sequences of the training lengths, C of the long length, D width, K the
largest distractors.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vanishing_variance.interventions.moments import Moments, Move
from vanishing_variance.interventions.parts import Parts
from vanishing_variance.interventions.reader import Reader
from vanishing_variance.study.interventions import (
    ATTENTION,
    AVERAGED,
    BASE,
    ENTROPY,
    FORMS,
    HARD,
    NOTHING,
    OTHER,
    PLACES,
    TARGET,
    TRAINED_TARGET,
    TRAINED_TARGET_AVERAGED,
    both,
    damaged,
    kept_long,
    restored,
)

# Intervention, place, and where the answers are right.
Found = Iterator[tuple[str, str, Bool[Tensor, "S B"]]]


@dataclass(frozen=True)
class Calibration:
    """Moments, target weights and distractors of calibration sequences, none of which is tested.

    `rest`: the mean of what the other items contribute, over the mean of their weight. `moments`: of O, by place.
    """

    parts: Parts
    rest: Float[Tensor, "S 1 D"]
    moments: Mapping[str, Moments]

    @classmethod
    def of(cls, reader: Reader, parts: Parts) -> "Calibration":
        """Return that of one sample of sequences."""
        left = 1 - parts.weight.unsqueeze(-1)
        rest = (left * parts.rest).sum(1, keepdim=True) / left.sum(1, keepdim=True).clamp(min=1e-12)
        return cls(parts, rest, reader.moments(parts.context))


def on_long(
    reader: Reader,
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

    def correct(context: Float[Tensor, "S B D"], move: Move | None = None) -> Bool[Tensor, "S B"]:
        return reader.correct(context, tested.labels, move)

    right_weight = tested.weighted(training.parts.weight[:, drawn["weight"]])
    right_moments = reader.moments(long.parts.weighted(training.parts.weight[:, drawn["calibrated"]]))
    yield BASE, NOTHING, correct(tested.context)
    yield TARGET, ATTENTION, correct(right_weight)
    for form in FORMS:
        for where in PLACES:
            was, wanted, set_right = (of[where] for of in (long.moments, training.moments, right_moments))
            yield restored(form), where, correct(tested.context, Move(form, where, was, wanted))
            yield kept_long(form), where, correct(right_weight, Move(form, where, set_right, was))
            yield both(form), where, correct(right_weight, Move(form, where, set_right, wanted))
    yield AVERAGED, ATTENTION, correct(tested.weighted(tested.weight, long.rest))
    peaked = _peaked(tested, training.parts.profile[:, drawn["profile"]])
    yield ENTROPY, ATTENTION, correct(tested.weighted(tested.weight, peaked))
    yield OTHER, ATTENTION, correct(tested.weighted(other))
    yield HARD, ATTENTION, correct(tested.hard)


def on_training(
    reader: Reader,
    tested: Parts,
    long: Calibration,
    training: Calibration,
    drawn: Mapping[str, Int64[Tensor, " _"]],
) -> Found:
    """Yield every intervention on `tested` sequences of the training lengths, with what a long length has.

    `drawn`: which of the C calibration sequences a tested one has the target's weight of, `damage`.
    """
    weight = long.parts.weight[:, drawn["damage"]]
    for form in FORMS:
        for where in PLACES:
            move = Move(form, where, training.moments[where], long.moments[where])
            yield damaged(form), where, reader.correct(tested.context, tested.labels, move)
    yield TRAINED_TARGET, ATTENTION, reader.correct(tested.weighted(weight), tested.labels)
    averaged = tested.weighted(weight, long.rest)
    yield TRAINED_TARGET_AVERAGED, ATTENTION, reader.correct(averaged, tested.labels)


def _peaked(tested: Parts, profile: Float[Tensor, "S B K"]) -> Float[Tensor, "S B D"]:
    """Return the largest distractors averaged by these weights, or by those of as many as there are."""
    there = tested.largest.abs().sum(-1) > 0
    profile = torch.where(there, profile, torch.zeros_like(profile))
    total = profile.sum(-1, keepdim=True)
    averaged: Tensor = ((profile / total).unsqueeze(-2) @ tested.largest).squeeze(-2)
    return torch.where(total > 0, averaged, tested.rest)
