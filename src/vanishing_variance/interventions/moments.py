"""Moments of the attention outputs O, and outputs shifted and scaled from some moments to others.

S seeds, B sequences, D width.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.study.interventions import FORMS


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of O, by form.

    `global`: the mean over sequences of each output's mean, and of its standard deviation, over features (Section 2).
    `feature`: each feature's mean and standard deviation over sequences.
    """

    mean: Mapping[str, Float[Tensor, "S 1 _"]]
    deviation: Mapping[str, Float[Tensor, "S 1 _"]]

    @classmethod
    def of(cls, outputs: Float[Tensor, "S B D"]) -> "Moments":
        """Return those of a sample of sequences."""
        of_each = outputs.mean(-1, keepdim=True), outputs.std(-1, correction=0, keepdim=True)
        averaged = [one.mean(1, keepdim=True) for one in of_each]
        of_feature = outputs.mean(1, keepdim=True), outputs.std(1, correction=0, keepdim=True)
        mean, deviation = (dict(zip(FORMS, pair, strict=True)) for pair in zip(averaged, of_feature, strict=True))
        return cls(mean, deviation)


@dataclass(frozen=True)
class Move:
    """From the moments of one sample to those of another, of one form, `before` or `after` the normaliser."""

    form: str
    where: str
    start: Moments
    end: Moments

    def __call__(self, outputs: Float[Tensor, "S B D"]) -> Float[Tensor, "S B D"]:
        """Return outputs shifted and scaled: all sequences alike, so that what sets them apart is kept.

        The global form has one shift and one scale for all features, the other one of each for every feature. What
        does not vary at the start is shifted alone.
        """
        start, end = self.start.deviation[self.form], self.end.deviation[self.form]
        scale = torch.where(start > 0, end / start, torch.ones_like(start))
        return (outputs - self.start.mean[self.form]) * scale + self.end.mean[self.form]
