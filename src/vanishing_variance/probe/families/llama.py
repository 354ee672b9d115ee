"""Llama: causal, grouped-query attention, rotary positions; without them every rotation is the identity."""

import torch
from transformers import LlamaModel
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from vanishing_variance.probe.families.base import Family


def identity(
    rotary: LlamaRotaryEmbedding, rotations: tuple[torch.Tensor, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cosines and sines of a rotation by no angle, in the shapes of those given.

    The cosines keep the factor by which `rotary` scales both (of YaRN and LongRoPE; else 1). It scales the logits by
    its square, so dropping it would change more than the rotation.
    """
    cosines, sines = rotations
    return torch.full_like(cosines, rotary.attention_scaling), torch.zeros_like(sines)


FAMILY = Family(
    model=LlamaModel,
    projections=lambda model: [layer.self_attn.o_proj for layer in model.layers],
    positions=lambda model: model.rotary_emb,
    removed=identity,
)
