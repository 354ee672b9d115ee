"""The root mean square, of which normalisers are made."""

from jaxtyping import Float
from torch import Tensor
from torch.linalg import vector_norm


def root_mean_square(x: Float[Tensor, "*any D"]) -> Float[Tensor, "*any 1"]:
    """Return the root mean square over the last axis: of centred numbers their biased standard deviation."""
    # vector_norm has a gradient where it is 0, sqrt(mean(square)) has none.
    result: Tensor = vector_norm(x, dim=-1, keepdim=True) / x.shape[-1] ** 0.5
    return result
