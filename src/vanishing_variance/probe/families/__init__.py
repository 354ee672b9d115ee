"""Families of pretrained transformers, a file a `model_type` of transformers: where O is, and the positions."""

from vanishing_variance.probe.families import bert, llama
from vanishing_variance.probe.families.base import Family

FAMILIES: dict[str, Family] = {"bert": bert.FAMILY, "llama": llama.FAMILY}
