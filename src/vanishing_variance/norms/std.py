"""Standardisation over the features, nothing learned (Section 3.2)."""

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor
from torch.linalg import vector_norm

LEARNABLE: Mapping[str, float] = {}


def normalise(
    outputs: Float[Tensor, "*any D"], parameters: Mapping[str, Tensor], epsilon: float
) -> Float[Tensor, "*any D"]:
    """Return (o - mu) / (sigma + epsilon), mu and the biased sigma over the D features of each output (Section 3.2)."""
    # vector_norm has a gradient where it is 0, sqrt(mean(square)) has none.
    centred = outputs - outputs.mean(-1, keepdim=True)
    sigma: Tensor = vector_norm(centred, dim=-1, keepdim=True) / outputs.shape[-1] ** 0.5
    return centred * (sigma + epsilon).reciprocal()
