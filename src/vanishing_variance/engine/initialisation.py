"""Initial weights: every named tensor of every seed comes from a stream of its own.

So two variants of a seed start from the same numbers wherever they have the same tensors, and a seed starts from the
same numbers whichever other seeds are trained beside it.

S seeds.
"""

from collections.abc import Callable, Iterable, Mapping
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


# How a linear layer starts, from the numbers of its inputs and outputs: its weight (outputs, inputs), its bias.
Scheme = Callable[[int, int], tuple[Initial, Initial]]

SCHEMES: dict[str, Scheme] = {
    # what nn.Linear does: both U(-1, 1) / sqrt(inputs)
    "torch": lambda i, o: (Initial((o, i), bound=i**-0.5), Initial((o,), bound=i**-0.5)),
    # N(0, 1 / inputs) and 0, as in Flax, whose normal is cut off at two standard deviations
    "lecun": lambda i, o: (Initial((o, i), std=i**-0.5), Initial((o,))),
    # Glorot and Bengio 2010: U(-1, 1) sqrt(6 / (inputs + outputs)) and 0
    "xavier": lambda i, o: (Initial((o, i), bound=(6 / (i + o)) ** 0.5), Initial((o,))),
}


def linear(scheme: Scheme, name: str, inputs: int, outputs: int, bias: bool = True) -> dict[str, Initial]:
    """Return how a linear layer's `<name>.weight` (outputs, inputs) and `<name>.bias` (outputs,) start."""
    of_weight, of_bias = scheme(inputs, outputs)
    return {f"{name}.weight": of_weight} | ({f"{name}.bias": of_bias} if bias else {})


def draw(
    initial: Mapping[str, Initial], root: int, task: str, seeds: Iterable[int]
) -> dict[str, Float32[Tensor, "S ..."]]:
    """Return the initial weights of `seeds`, by name."""
    seeds = list(seeds)
    return {
        name: torch.from_numpy(np.stack([how.draw(stream(root, "initial", task, seed, name)) for seed in seeds]))
        for name, how in initial.items()
    }
