"""The layers above attention, with the moments of O moved on the way.

S seeds, B sequences, D width.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vanishing_variance.inference.models import Models
from vanishing_variance.interventions.moments import Moments, Move


@dataclass(frozen=True)
class Reader:
    """Answers and attention outputs of trained models, given contexts."""

    models: Models

    @torch.no_grad()
    def correct(
        self, context: Float[Tensor, "S B D"], labels: Int64[Tensor, " B"], move: Move | None = None
    ) -> Bool[Tensor, "S B"]:
        """Return where the answer is right."""
        network, weights = self.models.network, self.models.weights
        outputs = network.outputs(weights, context)
        if move is not None and move.where == "before":
            outputs = move(outputs)
        outputs = network.normalise(weights, outputs)
        if move is not None and move.where == "after":
            outputs = move(outputs)
        return network.read_out(weights, outputs).argmax(-1) == labels

    @torch.no_grad()
    def moments(self, context: Float[Tensor, "S B D"]) -> Mapping[str, Moments]:
        """Return the moments of O, `before` and `after` the normaliser."""
        outputs = self.models.network.outputs(self.models.weights, context)
        after = self.models.network.normalise(self.models.weights, outputs)
        return {"before": Moments.of(outputs), "after": Moments.of(after)}
