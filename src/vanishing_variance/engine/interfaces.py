"""Interfaces of the modules that are loaded by name, attention maps and normalisers; or a class with the same names.

S seeds, B sequences, N items, D width. The arrays of a batch are (S, B, ...) where each seed has its own sequences and
(1, B, ...) where all seeds share them.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float, Shaped
from torch import Tensor

# A file of norms/ or attentions/ that takes options has a class instead, `Norm` or `Map`, with the same names.
Weights = Mapping[str, Float[Tensor, "S ..."]]
Batch = Mapping[str, Shaped[Tensor, "#S B ..."]]


@runtime_checkable
class Rescaled(Protocol):
    """A module `attentions/<map>.py` whose weights are the softmax of logits times a factor that N decides.

    `LEARNABLE`: its learned numbers, each with its initial value; and `OF_HEADS`, where there are any, such that each
    head has its own, (S, BH, 1).
    """

    LEARNABLE: Mapping[str, float]

    def scale(self, items: int, parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S 1 1"] | float:
        """Return the factor for a number of items."""


@runtime_checkable
class Weighting(Protocol):
    """A module `attentions/<map>.py` with any function of the logits; learned numbers as those of `Rescaled`."""

    LEARNABLE: Mapping[str, float]

    def weights(
        self, logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]
    ) -> Float[Tensor, "S B N"]:
        """Return the attention weights, which need not sum to one."""


@runtime_checkable
class Normaliser(Protocol):
    """A module `norms/<norm>.py`. `LEARNABLE`: its learned vectors (D,), each with the initial value of a feature."""

    LEARNABLE: Mapping[str, float]

    def normalise(
        self, outputs: Float[Tensor, "*any D"], parameters: Mapping[str, Tensor], epsilon: float
    ) -> Float[Tensor, "*any D"]:
        """Return the normalised outputs; each parameter broadcasts against them. `epsilon` is `model.epsilon`."""


def of_heads(choice: Any) -> Mapping[str, float]:
    """Return the learned numbers of which each head has its own, with their initial values."""
    initial: Mapping[str, float] = getattr(choice, "OF_HEADS", {})
    return initial
