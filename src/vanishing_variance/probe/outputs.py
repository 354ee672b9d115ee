"""The attention outputs O of a pretrained transformer, before the output projection, at the last position.

S sequences, N tokens, K layers, H heads, D width of a head.
"""

from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import nn
from transformers import PreTrainedModel

from vanishing_variance.engine.device import device
from vanishing_variance.probe.families import Family

# Of a batch: they bound the memory of activations, and decide the last bits.
TOKENS = 8192


def last_outputs(
    model: PreTrainedModel, family: Family, tokens: Integer[np.ndarray, "S N"], layers: list[int], positions: bool
) -> Float[np.ndarray, "S {len(layers)} H D"]:
    """Return O at the last position of sequences in `layers`, with or without positional encoding."""
    projections = family.projections(model)
    last: dict[int, torch.Tensor] = {}

    def keep_last(layer: int, _: nn.Module, inputs: tuple[Any, ...]) -> None:
        last[layer] = inputs[0][:, -1]

    def remove_positions(module: nn.Module, _: Any, encoded: Any) -> Any:
        return family.no_positions(module, encoded)

    outputs = []
    batch_size = max(1, TOKENS // tokens.shape[1])
    with torch.no_grad(), ExitStack() as hooks:
        for layer in layers:
            hooks.enter_context(projections[layer].register_forward_pre_hook(partial(keep_last, layer)))
        if not positions:
            hooks.enter_context(family.positions(model).register_forward_hook(remove_positions))
        for batch in torch.from_numpy(tokens).split(batch_size):
            model(input_ids=batch.to(device()), use_cache=False)
            of_layers = torch.stack([last[layer] for layer in layers], dim=1)
            of_heads = of_layers.unflatten(-1, (model.config.num_attention_heads, -1))
            outputs.append(of_heads.cpu().numpy())
    return np.concatenate(outputs)
