"""Networks by name, a file each with a class `Network`, and the interface of one: any `nn.Module` will do.

    Network(sizes, norm, *, <options with defaults>)
    forward(items (B, N, F), query (B, G)) -> class logits (B, C)
    inside(items, query) -> [Layer(weights (B, H, N), outputs (B, H, d)), ...], optional

All that calls change is in parameters and buffers, in place, and random numbers are torch's: a step of training is
known by the state before it and its noise, and so is an answer.

`inside` returns, for each layer and at the place from which the answer is read, the attention to the N items, and O of
each head before any normaliser. Where there is none, what is inside the models is not measured.

B sequences, N items, F and G features of an item and of the query, C classes, H heads, d features of a head.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vanishing_variance.engine.interfaces import Normaliser

# A function of the width of what it normalises.
MakeNorm = Callable[[int], nn.Module]


@dataclass(frozen=True)
class Sizes:
    """The task's sizes: features of an item (F) and of the query (G), and classes (C)."""

    items: int
    query: int
    classes: int


@dataclass(frozen=True)
class Layer:
    """The inside of one layer: attention to the items, and O of each head before any normaliser."""

    weights: Float[Tensor, "B H N"]
    outputs: Float[Tensor, "B H d"]


class NormModule(nn.Module):
    """A normaliser of norms/ as a module, of outputs of one width."""

    def __init__(self, norm: Normaliser, epsilon: float, width: int) -> None:
        super().__init__()
        # the function alone: a module of Python's cannot be copied
        self.normalise, self.epsilon, self.width = norm.normalise, epsilon, width
        for name, value in norm.LEARNABLE.items():
            # so that it may have any name: an attribute might be taken, such as `epsilon`
            self._parameters[name] = nn.Parameter(torch.full((width,), float(value)))

    def forward(self, outputs: Float[Tensor, "*any D"]) -> Float[Tensor, "*any D"]:
        """Return the normalised outputs."""
        normalised: Tensor = self.normalise(outputs, dict(self.named_parameters()), self.epsilon)
        return normalised
