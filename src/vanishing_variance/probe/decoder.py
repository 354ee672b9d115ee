"""The parts of a decoder that Figure 1 needs, found by what they read and not by name: any of transformers' will do.

B sequences, N tokens.
"""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel


@dataclass(frozen=True)
class Decoder:
    """A model, its output projection W_O by layer, which reads O, the heads' outputs side by side, and its positions.

    `tables`: the modules that add learned positions to embeddings. Other positions are numbers that the model is given.
    """

    model: PreTrainedModel
    projections: Sequence[nn.Module]
    tables: Sequence[nn.Module]

    def run(self, tokens: torch.Tensor, positions: bool = True) -> None:
        """Run the model on tokens (B, N). Without positions, learned ones are zero, and rotations those of token 0."""
        # the mask keeps a model from taking equal positions for sequences of one token each
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        tables = [] if positions else self.tables
        if not positions:
            inputs["position_ids"] = torch.zeros_like(tokens)
        with torch.no_grad(), ExitStack() as hooks:
            for table in tables:
                hooks.enter_context(table.register_forward_hook(lambda *called: torch.zeros_like(called[-1])))
            self.model(**inputs, use_cache=False)

    def loses_positions(self) -> bool:
        """Return whether, without positions, the first O of the last token is the same in any order of the others."""
        first, _ = _two_sequences(self.model)
        reordered = torch.cat((first[:-1].flip(0), first[-1:]))
        read: list[torch.Tensor] = []
        with self.projections[0].register_forward_pre_hook(lambda _, inputs: read.append(inputs[0][:, -1])):
            try:
                self.run(torch.stack((first, reordered)), positions=False)
            except TypeError:  # it takes no positions
                return False
        return _alike(*read[0])


def dissect(model: PreTrainedModel) -> Decoder:
    """Return the parts of a model.

    Learned positions are the same in all sequences, and differ between tokens. W_O is the first matrix of a layer from
    the heads' width to the model's that reads other tokens: at the last one, what it reads differs between two
    sequences that end alike. Raises ValueError where a layer has none.
    """
    config = model.config
    sequences = _two_sequences(model)
    heads_width = config.num_attention_heads * head_width(config)
    tables: list[nn.Module] = []
    mixing: list[nn.Module] = []

    def classify(module: nn.Module, inputs: Any, output: Any) -> None:
        if isinstance(module, nn.Embedding):
            if (output == output[:1]).all() and not _alike(output[0, 0], output[0, 1]):
                tables.append(module)
        elif isinstance(output, torch.Tensor) and output.shape == (*sequences.shape, config.hidden_size):
            [read] = inputs
            if read.shape == (*sequences.shape, heads_width) and not _alike(*read[:, -1]):
                mixing.append(module)

    with ExitStack() as hooks:
        for module in model.modules():
            weight = getattr(module, "weight", None)
            if isinstance(weight, torch.Tensor) and weight.ndim == 2:
                hooks.enter_context(module.register_forward_hook(classify))
        Decoder(model, [], []).run(sequences)
    names = {module: name for name, module in model.named_modules()}
    found = re.fullmatch(r"(.*?\b)0(\..*)", names[mixing[0]]) if mixing else None
    if found is None:
        raise ValueError("no output projection of attention was found in its first layer")
    before, after = found.groups()
    layers = range(config.num_hidden_layers)
    return Decoder(model, [model.get_submodule(f"{before}{layer}{after}") for layer in layers], tables)


def head_width(config: PreTrainedConfig) -> int:
    """Return the width of a head's output."""
    own: int | None = getattr(config, "v_head_dim", None) or getattr(config, "head_dim", None)
    return own or config.hidden_size // config.num_attention_heads


def _two_sequences(model: PreTrainedModel) -> torch.Tensor:
    """Return two sequences (2, 8) of different tokens from all over the vocabulary that end alike."""
    tokens = torch.linspace(0, model.config.vocab_size - 1, 16, device=model.device).long()
    sequences = tokens.view(2, 8)
    sequences[0, -1] = sequences[1, -1]
    return sequences


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two vectors are the same but for rounding."""
    return bool((one - other).abs().max() <= 1e-3 * one.abs().max())
