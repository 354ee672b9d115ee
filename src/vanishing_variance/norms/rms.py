"""Division by the root mean square (Zhang and Sennrich 2019), beyond the paper: scales, but does not centre."""

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor
from torch.linalg import vector_norm

LEARNABLE: Mapping[str, float] = {"scale": 1.0}


def normalise(
    outputs: Float[Tensor, "*any D"], parameters: Mapping[str, Tensor], epsilon: float
) -> Float[Tensor, "*any D"]:
    """Return gamma o / (rms(o) + epsilon), the root mean square taken over the D features of each output."""
    # vector_norm has a gradient where it is 0, sqrt(mean(square)) has none.
    rms: Tensor = vector_norm(outputs, dim=-1, keepdim=True) / outputs.shape[-1] ** 0.5
    return outputs * (rms + epsilon).reciprocal() * parameters["scale"]
