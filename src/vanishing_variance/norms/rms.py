"""Division by the root mean square (Zhang and Sennrich 2019), beyond the paper: scales, but does not centre."""

from collections.abc import Mapping

from torch import Tensor

LEARNABLE: Mapping[str, float] = {"scale": 1.0}


def normalise(outputs: Tensor, parameters: Mapping[str, Tensor], epsilon: float) -> Tensor:
    """gamma o / (rms(o) + epsilon), the root mean square taken over the D features of each output."""
    rms = outputs.square().mean(-1, keepdim=True).sqrt()
    return outputs / (rms + epsilon) * parameters["scale"]
