"""The standard deviation of fixed components of attention outputs over sequences, against their length (Figure 1).

V tokens in the vocabulary, S sequences, N tokens, K layers, F features of a layer's output.
"""

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
from vanishing_variance.probe.decoder import Decoder, reach
from vanishing_variance.probe.sequences import Corpus, sentences
from vanishing_variance.probe.strategies import AFTER, BEFORE, STRATEGIES

# Of a batch: they bound the memory of activations, and decide the last bits.
TOKENS = 8192
# Batches of features of the last token, by place and layer.
Outputs = dict[tuple[str, int], list[np.ndarray]]
COLUMNS = ["strategy", "place", "layer", "feature", "length", "n", "deviation"]


@dataclass(frozen=True)
class Subject:
    """Subject of the measurement: a decoder, at these layers; its vocabulary, and a text for it."""

    decoder: Decoder
    layers: list[int]
    vocabulary: Integer[np.ndarray, " V"]
    corpus: Corpus


def select(settings: Probe, config: PreTrainedConfig) -> list[int]:
    """Return the layers to be measured.

    Raises InputError, which names the key, for a layer or length that the model does not have.
    """
    model = settings.model
    num_layers = config.num_hidden_layers
    # a list, or all
    layers = settings.layers if isinstance(settings.layers, list) else list(range(num_layers))
    limits = {
        "layers": (max(layers), num_layers - 1, f"{model} has {num_layers} layers"),
        "lengths": (max(settings.lengths), config.max_position_embeddings, f"the positions of {model}"),
    }
    for key, (value, highest, why) in limits.items():
        if value > highest:
            raise InputError(f"{PATH}: probe.{key} has {value}; must be at most {highest}: {why}")
    return layers


def check_components(settings: Probe, decoder: Decoder, layers: list[int]) -> None:
    """Raise InputError where heads have fewer components than are to be measured."""
    width = min(map(decoder.head_width, layers))
    if settings.components > width:
        why = f"the width of {settings.model}'s heads"
        raise InputError(f"{PATH}: probe.components has {settings.components}; must be at most {width}: {why}")


def measure(subject: Subject, settings: Probe, root_seed: int) -> pd.DataFrame:
    """Return a tidy frame with COLUMNS, a row per feature before and after W_O, over n sequences.

    Before W_O features are the first `components` of each head, after it as many, the first.
    `deviation`: the sample standard deviation over sequences, in double precision.
    Raises InputError when a deviation is zero or not a number, which has no place on a logarithmic axis, and as
    `last_outputs`.
    """
    drawn = {}  # all of them first: a text that is too short is noticed before the work
    for name, length in product(STRATEGIES, settings.lengths):
        drawn[name, length] = draw(subject, name, settings.sequences, length, root_seed)
    parts = {}
    total = sum(tokens.size for tokens in drawn.values())
    with Progress("probe", total, "tokens") as progress:
        # the longest first: a length for which memory is too little is noticed early
        for name, length in sorted(drawn, key=lambda key: -key[1]):
            tokens = drawn[name, length]
            try:
                outputs = last_outputs(subject.decoder, tokens, subject.layers, STRATEGIES[name].positions)
            except RuntimeError as problem:  # as torch says that memory ran out
                raise InputError(f"{PATH}: probe.lengths has {length}; {settings.model} fails: {problem}") from None
            part = _deviations(outputs, subject, settings.components)
            parts[name, length] = part.assign(strategy=name, length=length, n=len(tokens))
            progress(tokens.size)
    table = pd.concat([parts[key] for key in drawn], ignore_index=True)[COLUMNS]
    for row in table.to_dict("records"):
        if not 0 < row["deviation"] < np.inf:
            where = f"layer {row['layer']}, feature {row['feature']} {row['place']} W_O: {row['deviation']}"
            raise InputError(f"{PATH}: probe.model is {settings.model}; the output does not vary there ({where})")
    return table


def last_outputs(
    decoder: Decoder, tokens: Integer[np.ndarray, "S N"], layers: list[int], positions: bool
) -> dict[tuple[str, int], Float[np.ndarray, "S _"]]:
    """Return O, BEFORE, and the output of W_O, AFTER, of each of `layers`, with or without positional encoding.

    Raises InputError where the last token of a layer does not attend to all others.
    """
    batches: Outputs = defaultdict(list)
    length = tokens.shape[1]
    with ExitStack() as hooks:
        for layer in layers:
            check, keep = partial(_require_all, length, layer), partial(_keep_last, batches, layer)
            hooks.enter_context(decoder.attentions[layer].register_forward_pre_hook(check, with_kwargs=True))
            hooks.enter_context(decoder.projections[layer].register_forward_hook(keep))
        for batch in torch.from_numpy(tokens).split(max(1, TOKENS // length)):
            decoder.run(batch.to(device()), positions)
    return {key: np.concatenate(parts) for key, parts in batches.items()}


def _require_all(length: int, layer: int, _: nn.Module, __: tuple[Any, ...], options: dict[str, Any]) -> None:
    mask = options.get("attention_mask")  # None: each token attends to all before it
    if mask is not None and (window := reach(mask)) < length:
        why = f"layer {layer} attends to a window of tokens, or to chunks"
        raise InputError(f"{PATH}: probe.lengths has {length}; must be at most {window}: {why}")


def _keep_last(batches: Outputs, layer: int, _: nn.Module, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    for place, features in ((BEFORE, inputs[0]), (AFTER, output)):
        batches[place, layer].append(features[:, -1].cpu().numpy().copy())


def _deviations(
    outputs: dict[tuple[str, int], Float[np.ndarray, "S _"]], subject: Subject, components: int
) -> pd.DataFrame:
    """Return place, layer, feature and deviation of what is shown."""
    num_heads = subject.decoder.model.config.num_attention_heads
    parts = []
    for place, layer in product((BEFORE, AFTER), subject.layers):
        features = outputs[place, layer]
        if place == BEFORE:
            width = subject.decoder.head_width(layer)
            shown = [head * width + component for head in range(num_heads) for component in range(components)]
        else:
            shown = list(range(min(components * num_heads, features.shape[-1])))
        spread = features[:, shown].std(axis=0, ddof=1, dtype=np.float64)
        parts.append(pd.DataFrame({"place": place, "layer": layer, "feature": shown, "deviation": spread}))
    return pd.concat(parts)


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
