"""Division by the root mean square (Zhang and Sennrich 2019), beyond the paper: scales, but does not centre."""

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.spread import root_mean_square

LEARNABLE: Mapping[str, float] = {"scale": 1.0}


def normalise(
    outputs: Float[Tensor, "*any D"], parameters: Mapping[str, Tensor], epsilon: float
) -> Float[Tensor, "*any D"]:
    """Return gamma o / (rms(o) + epsilon), the root mean square taken over the D features of each output."""
    rms = root_mean_square(outputs)
    return outputs * (rms + epsilon).reciprocal() * parameters["scale"]
