"""Weights that are kept beside the last ones: their mean over the last steps, and those after some steps."""

from collections.abc import Sequence
from math import ceil

import torch
from torch import Tensor

from vanishing_variance.engine.config import Training
from vanishing_variance.engine.interfaces import Weights

# The mean is over the weights after every so many steps.
STEPS_BETWEEN = 10


class OtherWeights:
    """Means of the weights after some steps, by name: `averaged` (Polyak and Juditsky 1992), `step_00001000`.

    The weights after one step are the mean over that step alone.
    """

    def __init__(self, training: Training, steps: int, weights: Weights) -> None:
        self._steps = _steps_by_name(training, steps)
        self._sums: dict[str, dict[str, Tensor]] = {}
        for name in self._steps:
            self._sums[name] = {tensor_name: _zeros(tensor) for tensor_name, tensor in weights.items()}

    def due(self, step: int) -> bool:
        """Return whether the weights after a step are part of any of them."""
        return any(step in steps for steps in self._steps.values())

    def add(self, step: int, weights: Weights) -> None:
        """Add the weights after a step to those of which they are part."""
        for name, steps in self._steps.items():
            if step in steps:
                for tensor_name, tensor in weights.items():
                    self._sums[name][tensor_name] += tensor

    def state(self) -> dict[str, Tensor]:
        """Return all that was added: by name, to be read or copied into."""
        state = {}
        for name, sums in self._sums.items():
            for tensor_name, total in sums.items():
                state[f"{name}.{tensor_name}"] = total
        return state

    def means(self) -> dict[str, dict[str, Tensor]]:
        """Return the means by name, each float32, by name of the tensor."""
        means = {}
        for name, sums in self._sums.items():
            added = len(self._steps[name])
            means[name] = {tensor_name: (total / added).float() for tensor_name, total in sums.items()}
        return means


def _steps_by_name(training: Training, steps: int) -> dict[str, Sequence[int]]:
    """Return the steps over which each of the weights is a mean."""
    by_name: dict[str, Sequence[int]] = {}
    last_part = ceil(training.averaged_part * steps)
    if last_part:
        by_name["averaged"] = range(steps, steps - last_part, -STEPS_BETWEEN)
    for step in training.kept_steps:
        if step <= steps:
            by_name[f"step_{step:08d}"] = [step]
    return by_name


def _zeros(tensor: Tensor) -> Tensor:
    return torch.zeros_like(tensor, dtype=torch.float64, requires_grad=False)
