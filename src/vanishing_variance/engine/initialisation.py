"""Initial weights: every named tensor of every seed comes from a stream of its own.

So two variants of a seed start from the same numbers wherever they have the same tensors, and a seed starts from the
same numbers whichever other seeds are trained beside it.

S seeds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from vanishing_variance.engine.streams import stream


@dataclass(frozen=True)
class Initial:
    """Initial distribution of one tensor of one seed: `constant`, plus U(-bound, bound), plus N(0, std^2)."""

    shape: tuple[int, ...]
    bound: float = 0.0
    std: float = 0.0
    constant: float = 0.0

    def draw(self, rng: np.random.Generator) -> Float32[np.ndarray, "..."]:
        """Return one tensor of this shape."""
        value = np.full(self.shape, self.constant, dtype=np.float32)
        if self.bound:
            value += self.bound * (2 * rng.random(self.shape, dtype=np.float32) - 1)
        if self.std:
            value += self.std * rng.standard_normal(self.shape, dtype=np.float32)
        return value


def linear_layer(name: str, inputs: int, outputs: int) -> dict[str, Initial]:
    """Return how a linear layer's `<name>.weight` (outputs, inputs) and `<name>.bias` (outputs,) start.

    As nn.Linear's do: both U(-1, 1) / sqrt(inputs).
    """
    bound = inputs**-0.5
    return {
        f"{name}.weight": Initial((outputs, inputs), bound),
        f"{name}.bias": Initial((outputs,), bound),
    }


def draw(
    initial: Mapping[str, Initial], root_seed: int, task: str, seeds: Iterable[int]
) -> dict[str, Float32[Tensor, "S ..."]]:
    """Return the initial weights of `seeds`, by name."""
    seeds = list(seeds)
    weights = {}
    for name, distribution in initial.items():
        tensors = [distribution.draw(stream(root_seed, "initial", task, seed, name)) for seed in seeds]
        weights[name] = torch.from_numpy(np.stack(tensors))
    return weights
