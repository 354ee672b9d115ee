"""The layers above attention, with the moments of the attention outputs O moved on the way.

S seeds, B sequences, D width; BH rows of attention, P features of a context.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vanishing_variance.measure.inference.models import CORRECT, Models, marked


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of O, of one form."""

    mean: Float[Tensor, "S 1 _"]
    deviation: Float[Tensor, "S 1 _"]


@dataclass(frozen=True)
class Move:
    """From the moments of one sample to those of another, of the same form."""

    start: Moments
    end: Moments

    def __call__(self, outputs: Float[Tensor, "S B D"]) -> Float[Tensor, "S B D"]:
        """Return outputs shifted and scaled: all sequences alike, so that their differences are kept.

        The global form has one shift and one scale for all features, the other one of each for every feature. What
        does not vary at the start is shifted alone.
        """
        start, end = self.start, self.end
        ratio = end.deviation / start.deviation
        scale = torch.where(start.deviation > 0, ratio, 1.0)
        centred = outputs - start.mean
        return centred * scale + end.mean


def by_form(outputs: Float[Tensor, "S B D"]) -> dict[str, Moments]:
    """Return the moments of a sample of sequences, by form.

    `global`: the mean over sequences of each output's mean, and of its standard deviation, over features (Section 2).
    `feature`: each feature's mean and standard deviation over sequences.
    """
    mean = outputs.mean(-1, keepdim=True)  # (S, B, 1)
    deviation = outputs.std(-1, correction=0, keepdim=True)
    return {
        "global": Moments(mean.mean(1, keepdim=True), deviation.mean(1, keepdim=True)),
        "feature": Moments(outputs.mean(1, keepdim=True), outputs.std(1, correction=0, keepdim=True)),
    }


@torch.no_grad()
def moments(models: Models, context: Float[Tensor, "S BH P"]) -> dict[str, Moments]:
    """Return the moments of O before the normaliser, given contexts, by form."""
    return by_form(models.network.outputs(models.weights, context))


@torch.no_grad()
def is_correct(
    models: Models, context: Float[Tensor, "S BH P"], labels: Int64[Tensor, " B"], move: Move | None = None
) -> Bool[Tensor, "S B"]:
    """Return True where the answer is correct, given contexts, with the moments of O moved on the way."""
    outputs = models.network.outputs(models.weights, context)
    if move is not None:
        outputs = move(outputs)
    normalised = models.network.normalise(models.weights, outputs)
    return marked(models.read_out(normalised), labels) == CORRECT
