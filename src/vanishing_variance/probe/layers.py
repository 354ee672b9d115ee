"""The first layers of a model, without the weights of the others.

A configuration of fewer layers is another model: some scale by the number of layers, or share keys with the last ones.
"""

import re
from typing import Any

from torch import nn
from transformers import PreTrainedModel


class EndOfLayersError(Exception):
    """Raised by a model after its first layers."""


class _NoLayer(nn.Module):
    """Stands for a layer, has what models ask a layer for, but its weights, and ends the run."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.__dict__["layer"] = layer  # no module of the model

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["layer"], name)

    def forward(self, *inputs: Any, **options: Any) -> None:
        raise EndOfLayersError


def first_layers(model_class: type[PreTrainedModel], depth: int, layers: int) -> type[PreTrainedModel]:
    """Return the class of models of which the first `layers` of `depth` remain."""

    def initialise(self: PreTrainedModel, *inputs: Any, **options: Any) -> None:
        model_class.__init__(self, *inputs, **options)
        for name, modules in list(self.named_modules()):
            # a number in the name is a layer's, and what has as many parts inside a layer stays
            if isinstance(modules, nn.ModuleList) and len(modules) == depth and not re.search(r"\d", name):
                for place in range(layers, depth):
                    modules[place] = _NoLayer(modules[place])

    # by its name and module transformers knows how to convert weights
    members = {"__init__": initialise, "__module__": model_class.__module__}
    return type(model_class.__name__, (model_class,), members)
