"""Interface of a family of pretrained transformers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn
from transformers import PreTrainedModel


@dataclass(frozen=True)
class Family:
    """One `model_type` of transformers.

    `model` is the class without a head for a task, made with `options`; `projections` gives the output projection W_O
    of every layer, whose input is O, the heads' outputs side by side; `positions` gives the module whose output is the
    positional encoding, and `removed`, of that module and its output, the output for a model without one.
    """

    model: type[PreTrainedModel]
    projections: Callable[[Any], list[nn.Module]]
    positions: Callable[[Any], nn.Module]
    removed: Callable[[Any, Any], Any]
    options: Mapping[str, Any] = field(default_factory=dict)
