"""The learning rate of every step."""

import torch
from jaxtyping import Float64
from torch import Tensor

from vanishing_variance.engine.config import Training


def learning_rates(training: Training, steps: int) -> Float64[Tensor, " steps"]:
    """Return the learning rate of each step: constant, or from `learning_rate` to 0 along half a cosine."""
    rates = torch.full((steps,), training.learning_rate, dtype=torch.float64)
    if training.decay == "cosine":
        rates *= (1 + torch.cos(torch.pi * torch.arange(steps, dtype=torch.float64) / steps)) / 2
    return rates
