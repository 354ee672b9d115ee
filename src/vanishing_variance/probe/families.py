"""Families of pretrained transformers, by the `model_type` of transformers: the module of O, and of the positions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from transformers import BertModel, LlamaModel, PreTrainedModel


@dataclass(frozen=True)
class Family:
    """One `model_type` of transformers.

    `model`: the class without a head for a task, called with `options`; `projections`: the output projection W_O of
    every layer, whose input is O, the heads' outputs side by side; `positions`: the module whose output is the
    positional encoding; `no_positions`: of that module and its output, the output that encodes no positions.
    """

    model: type[PreTrainedModel]
    projections: Callable[[Any], list[nn.Module]]
    positions: Callable[[Any], nn.Module]
    no_positions: Callable[[Any, Any], Any]
    options: Mapping[str, Any] = field(default_factory=dict)


def no_rotation(rotary: Any, rotations: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cosines and sines of a rotation by no angle, in the shapes of `rotations`.

    The cosines keep the factor by which `rotary` scales both (of YaRN and LongRoPE; else 1). It scales the logits by
    its square, so dropping it would change more than the rotation.
    """
    cosines, sines = rotations
    return torch.full_like(cosines, rotary.attention_scaling), torch.zeros_like(sines)


FAMILIES = {
    # Bidirectional; learned positions are added to the embeddings of the tokens.
    "bert": Family(
        model=BertModel,
        projections=lambda model: [layer.attention.output.dense for layer in model.encoder.layer],
        positions=lambda model: model.embeddings.position_embeddings,
        no_positions=lambda _, added: torch.zeros_like(added),
        options={"add_pooling_layer": False},  # it comes after the last layer, and not every checkpoint has one
    ),
    # Causal; grouped-query attention; positions rotate queries and keys.
    "llama": Family(
        model=LlamaModel,
        projections=lambda model: [layer.self_attn.o_proj for layer in model.layers],
        positions=lambda model: model.rotary_emb,
        no_positions=no_rotation,
    ),
}
