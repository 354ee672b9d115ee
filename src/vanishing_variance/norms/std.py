"""Standardisation over the features, nothing learned (Section 3.2)."""

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.spread import root_mean_square

LEARNABLE: Mapping[str, float] = {}


def normalise(
    outputs: Float[Tensor, "*any D"], parameters: Mapping[str, Tensor], epsilon: float
) -> Float[Tensor, "*any D"]:
    """Return (o - mu) / (sigma + epsilon), mu and the biased sigma over the D features of each output (Section 3.2)."""
    centred = outputs - outputs.mean(-1, keepdim=True)
    sigma = root_mean_square(centred)
    return centred * (sigma + epsilon).reciprocal()
