"""The decoders that Figure 1 looks into: with rotary positions, and W_O by the name that transformers gives it.

B sequences, N tokens.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

ROTARY = "rotary_emb"
# Of a layer: of most decoders, of Phi-2, of Pythia.
PROJECTIONS = ("self_attn.o_proj", "self_attn.dense", "attention.dense")


@dataclass(frozen=True)
class Decoder:
    """A model, and by layer its attention, and W_O, the projection that reads O, the heads' outputs side by side."""

    model: PreTrainedModel
    attentions: list[nn.Module]
    projections: list[nn.Linear]

    def run(self, tokens: torch.Tensor, positions: bool = True) -> None:
        """Run the model on tokens (B, N). Without positions, all rotations are those of token 0."""
        # the mask keeps a model from taking equal positions for sequences of one token each
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        if not positions:
            inputs["position_ids"] = torch.zeros_like(tokens)
        with torch.no_grad():
            self.model(**inputs, use_cache=False)

    def head_width(self, layer: int) -> int:
        """Return the width of a head's output."""
        heads: int = self.model.config.num_attention_heads
        return self.projections[layer].in_features // heads


def dissect(model: PreTrainedModel, depth: int) -> Decoder:
    """Return the decoder of a model, which may see or hear, too, and W_O of its first layers.

    Raises ValueError, which says what was looked for, where it has no rotary positions or a layer has no W_O.
    """
    decoder = model.get_decoder()
    modules: dict[str, Any] = dict(decoder.named_modules())
    names = [f"layers.{layer}.{projection}" for layer in range(depth) for projection in PROJECTIONS]
    names = [name for name in names if name in modules]
    attentions = [modules[name.rpartition(".")[0]] for name in names]
    projections = [modules[name] for name in names]
    if ROTARY not in modules or len(projections) < depth:
        raise ValueError(
            f"{type(decoder).__name__} is no decoder with rotary positions, {ROTARY}, and in each of its first layers "
            f"({depth}) an output projection, {' or '.join(PROJECTIONS)}"
        )
    return Decoder(decoder, attentions, projections)


def reach(mask: torch.Tensor) -> int:
    """Return the length of the longest sequence whose last token attends to its first: that of a window, or of a chunk.

    `mask` (B, 1, N, N) is transformers': true where a query (third) attends to a key (last), or zero where numbers are
    added to the logits.
    """
    of_first_key = mask[0, 0, :, 0]
    allowed = of_first_key if mask.dtype == torch.bool else of_first_key == 0
    return int(allowed.sum())
