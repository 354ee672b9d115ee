"""Every intervention on sequences of one long length, and on sequences of the training lengths.

S seeds, B tested sequences, T of the training lengths, C calibration sequences of the long length; BH, TH, CH their
rows of attention (the heads of a sequence one after another), P features of a context.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vanishing_variance.measure.config import Interventions
from vanishing_variance.measure.inference.models import Models, to_device
from vanishing_variance.measure.interventions import names
from vanishing_variance.measure.interventions.moments import Moments, Move, is_correct, moments
from vanishing_variance.measure.interventions.parts import Parts

# The intervention, its place, and where the answers are correct.
Outcome = tuple[str, str, Bool[Tensor, "S _"]]


@dataclass(frozen=True)
class Calibration:
    """Target weights, and moments of O by form, of calibration sequences, none of which is tested."""

    parts: Parts
    moments: Mapping[str, Moments]


@dataclass(frozen=True)
class Donors:
    """The row of calibration sequences from which each row is given a target weight, head by head.

    One of the training lengths, for each tested sequence of a long length: `weight`; and for each calibration sequence
    of the long length: `calibrated`. One of the long length, for each tested one of the training lengths: `damage`.
    """

    weight: Int64[Tensor, " BH"]
    calibrated: Int64[Tensor, " CH"]
    damage: Int64[Tensor, " TH"]


def draw_donors(rng: np.random.Generator, tested: int, settings: Interventions, heads: int) -> Donors:
    """Return donors that are drawn independently and uniformly, for `tested` sequences of a long length."""
    long, training = settings.sequences, settings.training_sequences

    def draw(donors: int, sequences: int) -> Int64[Tensor, " _"]:
        """Return the rows of one donor for each sequence."""
        drawn = rng.integers(donors, size=(sequences, 1))
        rows = heads * drawn + np.arange(heads)
        return to_device(rows.ravel())

    return Donors(weight=draw(training, tested), calibrated=draw(training, long), damage=draw(long, training))


def calibrate(models: Models, parts: Parts) -> Calibration:
    """Return the calibration of one sample of sequences."""
    return Calibration(parts, moments(models, parts.context))


def on_long(
    models: Models,
    tested: Parts,
    long: Calibration,
    training: Calibration,
    other_weight: Float[Tensor, "S BH"],
    donors: Donors,
) -> Iterator[Outcome]:
    """Yield every intervention on `tested` sequences of a long length.

    `other_weight`: the target's weights in another variant.
    """
    outcome = partial(_outcome, models, tested)
    yield names.BASE, names.NOTHING, is_correct(models, tested.context, tested.labels)

    training_weight = training.parts.weight
    restored_context = tested.weighted(training_weight[:, donors.weight])
    yield outcome(names.TARGET, restored_context)

    # the moments that O has at the long length once the target's weight is restored
    calibrated_context = long.parts.weighted(training_weight[:, donors.calibrated])
    restored_moments = moments(models, calibrated_context)
    for form in names.FORMS:
        of_long = long.moments[form]
        of_training = training.moments[form]
        of_restored = restored_moments[form]
        yield outcome(names.restored(form), tested.context, Move(of_long, of_training))
        yield outcome(names.kept_long(form), restored_context, Move(of_restored, of_long))
        yield outcome(names.both(form), restored_context, Move(of_restored, of_training))

    yield outcome(names.OTHER, tested.weighted(other_weight))


def on_training(
    models: Models, tested: Parts, long: Calibration, training: Calibration, donors: Donors
) -> Iterator[Outcome]:
    """Yield every intervention on `tested` sequences of the training lengths, with what a long length has."""
    outcome = partial(_outcome, models, tested)
    for form in names.FORMS:
        move = Move(training.moments[form], long.moments[form])
        yield outcome(names.damaged(form), tested.context, move)

    long_weight = long.parts.weight[:, donors.damage]
    yield outcome(names.TRAINED_TARGET, tested.weighted(long_weight))


def _outcome(
    models: Models, tested: Parts, name: str, context: Float[Tensor, "S _ P"], move: Move | None = None
) -> Outcome:
    """Return the outcome of an intervention on attention, which gives `context`, or of a move of O."""
    where = names.ATTENTION if move is None else names.BEFORE
    return name, where, is_correct(models, context, tested.labels, move)
