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
from vanishing_variance.probe.families.base import Family

# Of one batch; it bounds the memory that activations take, and decides the last bits.
BATCH = 8192


def last_outputs(
    model: PreTrainedModel, family: Family, tokens: Integer[np.ndarray, "S N"], layers: list[int], positions: bool
) -> Float[np.ndarray, "S {len(layers)} H D"]:
    """Return O at the last position of sequences in `layers`, with or without positional encoding."""
    heads, taken = model.config.num_attention_heads, []
    projections, last = family.projections(model), dict[int, torch.Tensor]()

    def take(layer: int, _: nn.Module, arguments: tuple[Any, ...]) -> None:
        last[layer] = arguments[0][:, -1]

    batches = torch.from_numpy(tokens).split(max(1, BATCH // tokens.shape[1]))
    with torch.no_grad(), ExitStack() as hooks:
        for layer in layers:
            hooks.enter_context(projections[layer].register_forward_pre_hook(partial(take, layer)))
        if not positions:
            without = family.positions(model).register_forward_hook(lambda of, _, output: family.removed(of, output))
            hooks.enter_context(without)
        for batch in batches:
            model(input_ids=batch.to(device()), use_cache=False)
            together = torch.stack([last[layer] for layer in layers], dim=1)
            taken.append(together.unflatten(-1, (heads, -1)).cpu().numpy())
    return np.concatenate(taken)
