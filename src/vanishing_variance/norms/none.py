"""No normalisation: the paper's Baseline."""

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {}


def normalise(
    outputs: Float[Tensor, "*any D"], parameters: Mapping[str, Tensor], epsilon: float
) -> Float[Tensor, "*any D"]:
    """Return the attention outputs as they are."""
    return outputs
