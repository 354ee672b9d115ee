"""Layers, heads and positions of the section `probe`, checked against the model."""

from typing import Literal

from transformers import PreTrainedConfig

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.sections import PATH
from vanishing_variance.probe.config import Probe


def select(settings: Probe, config: PreTrainedConfig) -> tuple[list[int], list[int]]:
    """Return the layers and the heads to be measured.

    Raises InputError, which names the key, for a layer, head, component or length that the model does not have.
    """
    name, heads = settings.model, config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    layers = _meant(settings.layers, config.num_hidden_layers)
    shown = _meant(settings.heads, heads)
    for key, values, most, what in (
        ("layers", layers, config.num_hidden_layers - 1, f"{name} has {config.num_hidden_layers} layers"),
        ("heads", shown, heads - 1, f"{name} has {heads} heads in a layer"),
        ("lengths", settings.lengths, config.max_position_embeddings, f"the positions of {name}"),
    ):
        for place, value in enumerate(values):
            if value > most:
                raise InputError(f"{PATH}: probe.{key}[{place}] is {value}; must be at most {most}: {what}")
    if settings.components > width:
        raise InputError(
            f"{PATH}: probe.components is {settings.components}; must be at most {width}, the width of {name}'s heads"
        )
    return layers, shown


def _meant(wanted: list[int] | Literal["all"], there: int) -> list[int]:
    return list(range(there)) if wanted == "all" else wanted
