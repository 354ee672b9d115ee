"""Weights that are kept beside the last ones: their mean over the last steps, and those after some steps."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import torch
from torch import Tensor

from vanishing_variance.engine.config import Training
from vanishing_variance.engine.interfaces import Weights

# The mean is over the weights after every so many steps.
STEPS_BETWEEN = 10


class KeptWeights:
    """Means of the weights after some steps, by name: `averaged` (Polyak and Juditsky 1992), `step_00001000`.

    The weights after one step are the mean over that step alone. Sums begin at the first step that is part of them.
    """

    def __init__(self, training: Training, steps: int, weights: Weights) -> None:
        self._steps = _steps_by_name(training, steps)
        self._weights = weights
        self._sums: dict[str, dict[str, Tensor]] = {}

    def due(self, step: int) -> bool:
        """Return whether the weights after a step are part of any of them."""
        return any(step in steps for steps in self._steps.values())

    def add(self, step: int, weights: Weights) -> None:
        """Add the weights after a step to those of which they are part."""
        for name, steps in self._steps.items():
            if step in steps:
                sums = self._sums_of(name)
                for tensor_name, tensor in weights.items():
                    if tensor.is_floating_point():
                        sums[tensor_name] += tensor
                    else:
                        sums[tensor_name].copy_(tensor)

    def state(self, completed: int) -> dict[str, Tensor]:
        """Return all that is added in so many steps: by name, to be read or copied into."""
        state = {}
        for name, steps in self._steps.items():
            if steps[-1] <= completed:  # the first of them
                for tensor_name, total in self._sums_of(name).items():
                    state[f"{name}.{tensor_name}"] = total
        return state

    def means(self) -> dict[str, dict[str, Tensor]]:
        """Return the means by name, by name of the tensor, each of its dtype; what has no mean as it was last."""
        means: dict[str, dict[str, Tensor]] = {}
        for name, steps in self._steps.items():
            means[name] = {}
            for tensor_name, total in self._sums_of(name).items():
                mean = total / len(steps) if total.is_floating_point() else total
                means[name][tensor_name] = mean.to(self._weights[tensor_name].dtype)
        return means

    def _sums_of(self, name: str) -> dict[str, Tensor]:
        """Return the sums that lead to one of the weights, at first 0; a tensor's own dtype holds one step exactly."""
        if name not in self._sums:
            summed = len(self._steps[name]) > 1
            zeros = {}
            for tensor_name, tensor in self._weights.items():
                kind = torch.float64 if summed and tensor.is_floating_point() else tensor.dtype
                zeros[tensor_name] = torch.zeros_like(tensor, dtype=kind, requires_grad=False)
            self._sums[name] = zeros
        return self._sums[name]


def _steps_by_name(training: Training, steps: int) -> dict[str, Sequence[int]]:
    """Return the steps over which each of the weights is a mean, the last one first."""
    by_name: dict[str, Sequence[int]] = {}
    part = Fraction(str(training.averaged_part))  # exactly: 0.07 * 3000 is 210.00000000000003
    last_part = ceil(part * steps)
    if last_part:
        by_name["averaged"] = range(steps, steps - last_part, -STEPS_BETWEEN)
    for step in training.kept_steps:
        if step <= steps:
            by_name[f"step_{step:08d}"] = [step]
    return by_name
