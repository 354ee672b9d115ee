"""Llama: causal, grouped-query attention, rotary positions; without them every rotation is the identity."""

import torch
from transformers import LlamaModel

from vanishing_variance.probe.families.base import Family


def identity(rotations: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """The cosines and sines of a rotation by no angle, in the shapes of those given."""
    cosines, sines = rotations
    return torch.ones_like(cosines), torch.zeros_like(sines)


FAMILY = Family(
    model=LlamaModel,
    projections=lambda model: [layer.self_attn.o_proj for layer in model.layers],
    positions=lambda model: model.rotary_emb,
    removed=identity,
)
