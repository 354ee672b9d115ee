"""The standard deviation of fixed components of attention outputs over sequences, against their length (Figure 1).

V tokens in the vocabulary, S sequences, N tokens, K layers, F features of a layer's output.
"""

import math
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Integer
from torch import nn
from transformers import PreTrainedConfig

from vanishing_variance.engine.device import device
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.progress import Progress
from vanishing_variance.harness.sections import PATH
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.decoder import Decoder, head_width
from vanishing_variance.probe.sequences import Corpus, sentences
from vanishing_variance.probe.strategies import AFTER, BEFORE, STRATEGIES

# Of a batch: they bound the memory of activations, and decide the last bits.
TOKENS = 8192
COLUMNS = ["strategy", "place", "layer", "feature", "length", "n", "deviation"]


@dataclass(frozen=True)
class Subject:
    """Subject of the measurement: a decoder, at these layers and heads; its vocabulary, and a text for it."""

    decoder: Decoder
    layers: list[int]
    heads: list[int]
    vocabulary: Integer[np.ndarray, " V"]
    corpus: Corpus


def select(settings: Probe, config: PreTrainedConfig) -> tuple[list[int], list[int]]:
    """Return the layers and the heads to be measured.

    Raises InputError, which names the key, for a layer, head, component or length that the model does not have.
    """
    model = settings.model
    num_layers = config.num_hidden_layers
    num_heads = config.num_attention_heads
    # a list, or all
    layers = settings.layers if isinstance(settings.layers, list) else list(range(num_layers))
    heads = settings.heads if isinstance(settings.heads, list) else list(range(num_heads))
    positions = getattr(config, "max_position_embeddings", None) or math.inf  # without, they have no end
    limits = {
        "layers": (max(layers), num_layers - 1, f"{model} has {num_layers} layers"),
        "heads": (max(heads), num_heads - 1, f"{model} has {num_heads} heads in a layer"),
        "lengths": (max(settings.lengths), positions, f"the positions of {model}"),
        "components": (settings.components, head_width(config), f"the width of {model}'s heads"),
    }
    for key, (value, highest, why) in limits.items():
        if value > highest:
            raise InputError(f"{PATH}: probe.{key} has {value}; must be at most {highest}: {why}")
    return layers, heads


def measure(subject: Subject, settings: Probe, root_seed: int) -> pd.DataFrame:
    """Return a tidy frame with COLUMNS, a row per feature before and after W_O, over n sequences.

    Before W_O features are the first `components` of each head, after it as many, the first.
    `deviation`: the sample standard deviation over sequences, in double precision. A strategy without positions that
    the model cannot lose has no rows.
    Raises InputError when a deviation is zero or not a number, which has no place on a logarithmic axis.
    """
    removable = subject.decoder.loses_positions()
    strategies = [name for name, strategy in STRATEGIES.items() if strategy.positions or removable]
    drawn = {}  # all of them first: a text that is too short is noticed before the work
    for name, length in product(strategies, settings.lengths):
        drawn[name, length] = draw(subject, name, settings.sequences, length, root_seed)
    parts = []
    total = sum(tokens.size for tokens in drawn.values())
    with Progress("probe", total, "tokens") as progress:
        for (name, length), tokens in drawn.items():
            outputs = last_outputs(subject.decoder, tokens, subject.layers, STRATEGIES[name].positions)
            for place, of_place in outputs.items():
                part = _deviations(of_place, subject, settings.components, place)
                parts.append(part.assign(strategy=name, place=place, length=length, n=len(tokens)))
            progress(tokens.size)
    table = pd.concat(parts, ignore_index=True)[COLUMNS]
    for row in table.to_dict("records"):
        if not 0 < row["deviation"] < np.inf:
            where = f"layer {row['layer']}, feature {row['feature']} {row['place']} W_O: {row['deviation']}"
            raise InputError(f"{PATH}: probe.model is {settings.model}; the output does not vary there ({where})")
    return table


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


def _deviations(outputs: Float[np.ndarray, "S K F"], subject: Subject, components: int, place: str) -> pd.DataFrame:
    """Return layer, feature and deviation of what is shown of the outputs of one place."""
    if place == BEFORE:
        width = head_width(subject.decoder.model.config)
        features = [head * width + component for head in subject.heads for component in range(components)]
    else:
        features = list(range(min(components * len(subject.heads), outputs.shape[-1])))
    spread = outputs[:, :, features].std(axis=0, ddof=1, dtype=np.float64)
    index = pd.MultiIndex.from_product([subject.layers, features], names=["layer", "feature"])
    return pd.Series(spread.ravel(), index, name="deviation").reset_index()


def draw(
    subject: Subject, name: str, sequences: int, length: int, root_seed: int
) -> Integer[np.ndarray, "{sequences} {length}"]:
    """Return sequences of the strategy `name`.

    Random tokens are drawn independently and uniformly from the vocabulary; a fixed last one is the same for every
    length.
    """
    strategy = STRATEGIES[name]
    rng = stream(root_seed, "probe", name, length)
    if strategy.sentences:
        return sentences(rng, subject.corpus, sequences, length)
    tokens = rng.choice(subject.vocabulary, (sequences, length))
    if strategy.fixed_last:
        tokens[:, -1] = stream(root_seed, "probe", name, "last token").choice(subject.vocabulary)
    return tokens
