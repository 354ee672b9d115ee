"""Softmax of the logits times a power of N, beyond the paper: w = softmax(s N^gamma z), s and gamma learned.

Unpublished. In argmax retrieval the gaps between the largest of N priorities shrink as 1 / N: logits that are linear in
the priority keep the weight of the largest at gamma = 1, whereas log N is outgrown. It begins as a softmax, s = 1 and
gamma = 0. Both are learned as they are, so that s may change its sign.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

LEARNABLE: Mapping[str, float] = {"scale": 1.0, "exponent": 0.0}


def scale(items: int, parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S 1 1"] | float:
    """Return the logits' factor s N^gamma, N = `items`, s = `scale`, gamma = `exponent`."""
    return parameters["scale"] * torch.pow(items, parameters["exponent"])
