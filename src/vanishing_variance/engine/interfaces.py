"""Interfaces of the modules that are loaded by name: how a task's items enter the network, attention map, normaliser.

S seeds, B sequences, N items, D width, F features of the query, C classes. The arrays of a batch are (S, B, ...) where
each seed has its own sequences and (1, B, ...) where all seeds share them.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float, Shaped
from torch import Tensor

from vanishing_variance.engine.initialisation import Initial
from vanishing_variance.engine.items import Items

Weights = Mapping[str, Float[Tensor, "S ..."]]
Batch = Mapping[str, Shaped[Tensor, "#S B ..."]]


@runtime_checkable
class Embedding(Protocol):
    """A module `tasks/<task>/embed.py`.

    `SPARSE_TABLES`: the learned tables of which a batch reads a few rows, each with the arrays of the batch that number
    them.
    """

    SPARSE_TABLES: Mapping[str, tuple[str, ...]]

    def initial(self, task: Any, training: Any, width: int) -> dict[str, Initial]:
        """Return how its learned tensors start."""

    def tables(self, weights: Weights) -> dict[str, Float[Tensor, "S C D"]]:
        """Return what `embed` may look up instead of computing it for every occurrence of an item."""

    def embed(
        self, weights: Weights, batch: Batch, tables: Weights | None = None
    ) -> tuple[Items, Float[Tensor, "S B F"]]:
        """Return the item MLP's first linear layer of every item, and the features that the query MLP reads."""


@runtime_checkable
class Rescaled(Protocol):
    """A module `attentions/<map>.py` whose weights are the softmax of logits times a factor that N decides.

    `LEARNABLE`: its learned numbers, each with its initial value.
    """

    LEARNABLE: Mapping[str, float]

    def scale(self, items: int, parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S 1 1"] | float:
        """Return the factor for a number of items."""


@runtime_checkable
class Weighting(Protocol):
    """A module `attentions/<map>.py` with any function of the logits. `LEARNABLE`: as that of `Rescaled`."""

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
