"""The attention outputs of a decoder at the last token, before and after the output projection.

S sequences, N tokens, K layers, F features of a layer's output.
"""

from collections import defaultdict
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import nn

from vanishing_variance.engine.device import device
from vanishing_variance.probe.decoder import Decoder
from vanishing_variance.probe.strategies import AFTER, BEFORE

# Of a batch: they bound the memory of activations, and decide the last bits.
TOKENS = 8192


def last_outputs(
    decoder: Decoder, tokens: Integer[np.ndarray, "S N"], layers: list[int], positions: bool
) -> dict[str, Float[np.ndarray, "S {len(layers)} F"]]:
    """Return the outputs of `layers`, BEFORE and AFTER W_O, with or without positional encoding."""
    last: dict[tuple[str, int], torch.Tensor] = {}

    def keep_last(layer: int, _: nn.Module, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        last[BEFORE, layer] = inputs[0][:, -1]
        last[AFTER, layer] = output[:, -1]

    batches = defaultdict(list)
    batch_size = max(1, TOKENS // tokens.shape[1])
    with ExitStack() as hooks:
        for layer in layers:
            hook = partial(keep_last, layer)
            hooks.enter_context(decoder.projections[layer].register_forward_hook(hook))
        for batch in torch.from_numpy(tokens).split(batch_size):
            decoder.run(batch.to(device()), positions)
            for place in (BEFORE, AFTER):
                of_layers = [last[place, layer] for layer in layers]
                batches[place].append(torch.stack(of_layers, dim=1).cpu().numpy())
    return {place: np.concatenate(parts) for place, parts in batches.items()}
