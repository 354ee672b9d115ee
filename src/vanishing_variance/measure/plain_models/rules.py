"""The rules of the test that change attention, in the paper's network as the plain engine has it.

B sequences, N items.
"""

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.interfaces import Rescaled
from vanishing_variance.measure.inference.temperature import adaptive_beta, entropy
from vanishing_variance.networks import paper
from vanishing_variance.plain.model import PlainModel

# Of each head.
Logits = Sequence[Float[Tensor, "B N"]]
Weigh = Callable[[paper.Network, Logits], list[Float[Tensor, "B N"]]]


def by_rules(model: PlainModel) -> dict[str, PlainModel]:
    """Return copies of a model by the rules `hard` and, where the map is a softmax, `adaptive`; of others none."""
    network = model.network
    if not isinstance(network, paper.Network):
        return {}
    rules: dict[str, Weigh] = {"hard": _hard}
    if isinstance(network.map, Rescaled):
        rules["adaptive"] = _adaptive
    return {rule: _with(model, weigh) for rule, weigh in rules.items()}


def _with(model: PlainModel, weigh: Weigh) -> PlainModel:
    changed = copy.deepcopy(model)
    network: Any = changed.network
    network.weights = partial(weigh, network)
    return changed


def _hard(network: paper.Network, logits: Logits) -> list[Float[Tensor, "B N"]]:
    """Return all weight on the item of the largest weight, of equal ones that of the largest logit."""
    found = []
    for of_head, weights in zip(logits, paper.Network.weights(network, logits), strict=True):
        is_largest = weights == weights.amax(-1, keepdim=True)
        if isinstance(network.map, Rescaled):
            is_largest = torch.ones_like(is_largest)
        place = of_head.masked_fill(~is_largest, -torch.inf).argmax(-1, keepdim=True)
        found.append(torch.zeros_like(weights).scatter(-1, place, 1.0))
    return found


def _adaptive(_: paper.Network, logits: Logits) -> list[Float[Tensor, "B N"]]:
    """Return the weights with the adaptive temperature, by the mean entropy of the heads."""
    beta = adaptive_beta(torch.stack([entropy(of_head) for of_head in logits]).mean(0)).unsqueeze(-1)
    return [torch.softmax(beta * of_head, dim=-1) for of_head in logits]
