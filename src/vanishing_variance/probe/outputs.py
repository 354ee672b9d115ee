"""The attention outputs O of a pretrained transformer, before the output projection, at the last position.

S sequences, N tokens, K layers, H heads, D width of a head.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import nn
from transformers import PreTrainedModel

from vanishing_variance.core.device import device
from vanishing_variance.probe.families.base import Family

# Of one batch; it bounds the memory that activations take, and decides the last bits.
BATCH = 8192


def last_outputs(
    model: PreTrainedModel, family: Family, tokens: Integer[np.ndarray, "S N"], layers: list[int], positions: bool
) -> Float[np.ndarray, "S {len(layers)} H D"]:
    """Return O at the last position of sequences in `layers`, with or without positional encoding."""
    heads, taken = model.config.num_attention_heads, []
    batches = torch.from_numpy(tokens).split(max(1, BATCH // tokens.shape[1]))
    with torch.no_grad(), _taking(family.projections(model), layers) as last, ExitStack() as stack:
        if not positions:
            stack.enter_context(_without_positions(model, family))
        for batch in batches:
            model(input_ids=batch.to(device()), use_cache=False)
            together = torch.stack([last[layer] for layer in layers], dim=1)
            taken.append(together.unflatten(-1, (heads, -1)).cpu().numpy())
    return np.concatenate(taken)


@contextmanager
def _taking(projections: list[nn.Module], layers: list[int]) -> Iterator[dict[int, torch.Tensor]]:
    """Collect, in each forward pass within, the projections' inputs at the last position, (S, H D), by layer."""
    last: dict[int, torch.Tensor] = {}
    with ExitStack() as hooks:
        for layer in layers:

            def take(_: nn.Module, arguments: tuple[Any, ...], layer: int = layer) -> None:
                last[layer] = arguments[0][:, -1]

            hooks.callback(projections[layer].register_forward_pre_hook(take).remove)
        yield last


@contextmanager
def _without_positions(model: PreTrainedModel, family: Family) -> Iterator[None]:
    hook = family.positions(model).register_forward_hook(lambda module, _, output: family.removed(module, output))
    try:
        yield
    finally:
        hook.remove()
