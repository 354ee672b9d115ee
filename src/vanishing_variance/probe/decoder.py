"""The parts of a decoder that Figure 1 needs, found by what they do and not by name: any of transformers' will do.

B sequences, N tokens.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from vanishing_variance.probe.layers import EndOfLayersError
from vanishing_variance.probe.projections import alike, output_projections


@dataclass(frozen=True)
class Decoder:
    """A model, its output projection W_O by layer, which reads O, the heads' outputs side by side, and its positions.

    Layers without attention have no W_O. `tables`: the modules that add learned positions to embeddings. Other
    positions are numbers that the model is given.
    """

    model: PreTrainedModel
    projections: Mapping[int, nn.Module]
    tables: Sequence[nn.Module]

    def run(self, tokens: torch.Tensor, positions: bool = True) -> None:
        """Run the model on tokens (B, N). Without positions, learned ones are zero, and rotations those of token 0."""
        # the mask keeps a model from taking equal positions for sequences of one token each
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        tables = [] if positions else self.tables
        if not positions:
            inputs["position_ids"] = torch.zeros_like(tokens)
        with suppress(EndOfLayersError), torch.no_grad(), ExitStack() as hooks:
            for table in tables:
                hooks.enter_context(table.register_forward_hook(lambda *called: torch.zeros_like(called[-1])))
            self.model(**inputs, use_cache=False)

    def head_width(self, layer: int) -> int:
        """Return the width of a head's output."""
        config = self.model.config.get_text_config(decoder=True)
        width: int = config.hidden_size * config.num_attention_heads
        return self.projections[layer].get_parameter("weight").numel() // width

    def loses_positions(self) -> bool:
        """Return whether, without positions, the first O of the last token is the same in any order of the others."""
        first, _ = _two_sequences(self.model)
        reordered = torch.cat((first[:-1].flip(0), first[-1:]))
        read: list[torch.Tensor] = []
        projection = self.projections[min(self.projections)]
        with projection.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0][:, -1])):
            try:
                self.run(torch.stack((first, reordered)), positions=False)
            except TypeError:  # it takes no positions
                return False
        return alike(*read[0])


def dissect(model: PreTrainedModel) -> Decoder:
    """Return the parts of a model.

    Learned positions are the same in all sequences, and differ between tokens. Raises ValueError without W_O.
    """
    run = Decoder(model, {}, []).run
    sequences = _two_sequences(model)
    tables: list[nn.Module] = []

    def keep_positions(table: nn.Module, _: Any, output: torch.Tensor) -> None:
        if (output == output[:1]).all() and not alike(output[0, 0], output[0, 1]):
            tables.append(table)

    with ExitStack() as hooks:
        for module in model.modules():
            if isinstance(module, nn.Embedding):
                hooks.enter_context(module.register_forward_hook(keep_positions))
        run(sequences)
    return Decoder(model, output_projections(model, sequences, run), tables)


def _two_sequences(model: PreTrainedModel) -> torch.Tensor:
    """Return two sequences (2, 8) of different tokens from all over the vocabulary that end alike.

    Some models count positions without padding, so that with it learned ones are not the same.
    """
    config = model.config.get_text_config(decoder=True)
    padding = getattr(config, "pad_token_id", None)
    tokens = [token for token in range(config.vocab_size) if token != padding]
    places = torch.linspace(0, len(tokens) - 1, 16).long()
    sequences = torch.tensor(tokens, device=model.device)[places].view(2, 8)
    sequences[0, -1] = sequences[1, -1]
    return sequences
