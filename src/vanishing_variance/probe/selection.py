"""Layers, heads and positions of the section `probe`, checked against the model."""

from typing import Literal

from transformers import PreTrainedConfig

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.sections import PATH
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.decoder import head_width


def select(settings: Probe, config: PreTrainedConfig) -> tuple[list[int], list[int]]:
    """Return the layers and the heads to be measured.

    Raises InputError, which names the key, for a layer, head, component or length that the model does not have.
    """
    model = settings.model
    num_layers = config.num_hidden_layers
    num_heads = config.num_attention_heads
    layers = _chosen(settings.layers, num_layers)
    heads = _chosen(settings.heads, num_heads)
    _at_most("layers", max(layers), num_layers - 1, f"{model} has {num_layers} layers")
    _at_most("heads", max(heads), num_heads - 1, f"{model} has {num_heads} heads in a layer")
    positions = getattr(config, "max_position_embeddings", None)
    if positions is not None:  # without, they have no end
        _at_most("lengths", max(settings.lengths), positions, f"the positions of {model}")
    _at_most("components", settings.components, head_width(config), f"the width of {model}'s heads")
    return layers, heads


def _chosen(wanted: list[int] | Literal["all"], number: int) -> list[int]:
    return list(range(number)) if wanted == "all" else wanted


def _at_most(key: str, value: int, highest: int, why: str) -> None:
    if value > highest:
        raise InputError(f"{PATH}: probe.{key} has {value}; must be at most {highest}: {why}")
