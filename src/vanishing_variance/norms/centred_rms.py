"""Division by the root mean square about a learned centre, beyond the paper: what varies sets the scale, no offset.

Layer normalisation divides by the standard deviation over the features of one output, which a constant offset of O, the
same in all sequences, may set. Here that offset c is taken off first. It is learned, a vector as gamma is, from 0 on: a
running mean over the training sequences would need the training loop to keep it.
"""

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.spread import root_mean_square

LEARNABLE: Mapping[str, float] = {"centre": 0.0, "scale": 1.0}


def normalise(
    outputs: Float[Tensor, "*any D"], parameters: Mapping[str, Tensor], epsilon: float
) -> Float[Tensor, "*any D"]:
    """Return gamma (o - c) / (rms(o - c) + epsilon), the root mean square over the D features of each output."""
    centred = outputs - parameters["centre"]
    rms = root_mean_square(centred)
    return centred * (rms + epsilon).reciprocal() * parameters["scale"]
