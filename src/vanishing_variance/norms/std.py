"""Standardisation over the features, nothing learned (Section 3.2)."""

from collections.abc import Mapping

from torch import Tensor

LEARNABLE: Mapping[str, float] = {}


def normalise(outputs: Tensor, parameters: Mapping[str, Tensor], epsilon: float) -> Tensor:
    """(o - mu) / (sigma + epsilon), mu and the biased sigma taken over the D features of each output (Section 3.2)."""
    centred = outputs - outputs.mean(-1, keepdim=True)
    sigma = centred.square().mean(-1, keepdim=True).sqrt()
    return centred / (sigma + epsilon)
