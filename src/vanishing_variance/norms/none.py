"""No normalisation: the paper's Baseline."""

from collections.abc import Mapping

from torch import Tensor

LEARNABLE: Mapping[str, float] = {}


def normalise(outputs: Tensor, parameters: Mapping[str, Tensor], epsilon: float) -> Tensor:
    """The attention outputs as they are."""
    return outputs
