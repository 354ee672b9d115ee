"""The rules of the test that change attention, of a model's attention maps.

B sequences, H heads, N items.
"""

import copy
from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.measure.inference.temperature import adaptive_beta, entropy
from vanishing_variance.networks import AttentionMap
from vanishing_variance.plain.model import PlainModel

# From a map and its rescaled logits to attention weights.
Rule = Callable[[AttentionMap, Tensor], Tensor]


def rules_of(model: PlainModel) -> dict[str, Rule]:
    """Return the rules by name: `hard` and, where all maps are a softmax, `adaptive`; of a model without maps none."""
    maps = _maps(model)
    rules: dict[str, Rule] = {"hard": _hard} if maps else {}
    if maps and all(one.is_softmax for one in maps):
        rules["adaptive"] = _adaptive
    return rules


def by_rules(model: PlainModel) -> dict[str, PlainModel]:
    """Return a copy of a model by each of its rules."""
    changed = {}
    for name, rule in rules_of(model).items():
        changed[name] = copy.deepcopy(model)
        for one in _maps(changed[name]):
            one.rule = partial(rule, one)
    return changed


def _maps(model: PlainModel) -> list[AttentionMap]:
    return [part for part in model.modules() if isinstance(part, AttentionMap)]


def _hard(of: AttentionMap, logits: Float[Tensor, "B H *Q N"]) -> Float[Tensor, "B H *Q N"]:
    """Return all weight on the item of the largest weight, of equal ones of the largest logit; NaN where one is."""
    among = weights = logits
    if not of.is_softmax:
        weights = of.of_map(logits)
        among = logits.masked_fill(weights != weights.amax(-1, keepdim=True), -torch.inf)
    hard = torch.zeros_like(logits).scatter(-1, among.argmax(-1, keepdim=True), 1.0)
    return hard.masked_fill(~weights.amax(-1, keepdim=True).isfinite(), torch.nan)


def _adaptive(_: AttentionMap, logits: Float[Tensor, "B H *Q N"]) -> Float[Tensor, "B H *Q N"]:
    """Return the weights with the adaptive temperature, by the mean entropy of the heads."""
    beta = adaptive_beta(entropy(logits).mean(1, keepdim=True)).unsqueeze(-1)
    return torch.softmax(beta * logits, dim=-1)
