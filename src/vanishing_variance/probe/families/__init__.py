"""Families of pretrained transformers, a file a `model_type` of transformers: where O is, and the positions."""

from vanishing_variance import registry
from vanishing_variance.probe import families
from vanishing_variance.probe.families.base import Family


def supported() -> dict[str, Family]:
    """Every family by its `model_type`."""
    return {name: registry.load(families, name).FAMILY for name in registry.names(families)}
