"""Softmax attention times a power of N, beyond the paper: w = (N / 16)^gamma softmax(z), so that O keeps its spread.

Unpublished: the direct answer to the paper's explanation. Of N items that share the weight about equally the variance
of O falls as 1 / N (Proposition 1), so a gain of the square root of N undoes it, gamma = 1/2, where this begins; gamma
is learned on the training lengths. Assumed is one power for all features and sequences: where attention stays on a
few items, their values grow with the gain. It acts on O, as a normaliser would, and goes with any: layer
normalisation takes it off again, but for epsilon.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {"exponent": 0.5}
# Items at which the gain is 1: the longest training length of the short range.
REFERENCE = 16


def weights(logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S B N"]:
    """Return (N / 16)^gamma softmax(z), N items, gamma = `exponent`; the weights add up to the gain."""
    return torch.pow(logits.shape[-1] / REFERENCE, parameters["exponent"]) * torch.softmax(logits, dim=-1)
