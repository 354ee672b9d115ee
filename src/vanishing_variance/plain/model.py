"""One seed's model of a plan: the features of its task, and its network.

S seeds, B sequences, C classes.
"""

import itertools
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.run import PAPER
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.by_value import ByValue, copied
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.memory import in_one_line
from vanishing_variance.networks import AttentionMap, Layer, MakeNorm, NormModule, Sizes
from vanishing_variance.networks.paper import state_of_seed
from vanishing_variance.plain.features import Features
from vanishing_variance.plain.plan import PlainPlan, load_network, takes_attention

Batch = Mapping[str, Shaped[Tensor, "B ..."]]


class PlainModel(ByValue, nn.Module):
    """The task's features and a network, from a batch to its class logits."""

    def __init__(self, plan: PlainPlan, seed: int = 0) -> None:
        super().__init__()
        self.name, variant = plan.network_name, plan.variant
        if variant.has_norm_of_modules:
            make_norm = _drawn_apart(variant.given.norm, plan, seed)
        else:
            make_norm = partial(NormModule, variant.norm, variant.model.epsilon)
        self.classes = variant.task.num_classes
        self.features = Features(variant.task, plan.task_training)
        given: list[Any] = [Sizes(*self.features.widths, self.classes), make_norm]
        if takes_attention(plan.network):
            given.append(partial(AttentionMap, variant.attention))
        with in_one_line(f"network {self.name}(sizes, norm, ...)"):
            self.network: Any = load_network(plan.network)(*given, **plan.options)
        if not any(parameter.requires_grad for parameter in self.network.parameters()):
            raise InputError(f"network {self.name} has no parameters that could be trained")

    def forward(self, batch: Batch) -> Float[Tensor, "B C"]:
        """Return the class logits. Raises InputError where the network fails or returns another shape."""
        items, query = self.features(batch)
        with in_one_line(f"network {self.name}"):
            class_logits: Tensor = self.network(items, query)
        expected = len(query), self.classes
        if not isinstance(class_logits, Tensor) or class_logits.shape != expected:
            found = tuple(getattr(class_logits, "shape", ())) or type(class_logits).__name__
            raise InputError(f"network {self.name} returns {found}; must be class logits {expected}, (batch, classes)")
        if not class_logits.is_floating_point():
            raise InputError(f"network {self.name} returns {class_logits.dtype}; must be floating-point numbers")
        return class_logits

    def inside(self, batch: Batch) -> list[Layer]:
        """Return the inside of each layer. Raises InputError where the network fails or returns something else."""
        items, query = self.features(batch)
        with in_one_line(f"network {self.name}: inside"):
            layers: list[Layer] = self.network.inside(items, query)
        what = f"network {self.name}: inside returns"
        if not isinstance(layers, list) or not layers or not all(isinstance(layer, Layer) for layer in layers):
            raise InputError(f"{what} {shown(layers)}; must be a list of Layer(weights, outputs)")
        for layer in layers:
            if not all(
                isinstance(part, Tensor) and part.is_floating_point() for part in (layer.weights, layer.outputs)
            ):
                raise InputError(f"{what} {shown(layer)}; must be a Layer of tensors, floating-point numbers")
            heads = layer.weights.shape[1:2]
            shapes = layer.weights.shape, layer.outputs.shape[:-1]
            if shapes != ((len(items), *heads, items.shape[1]), (len(items), *heads)):
                raise InputError(f"{what} weights and outputs of other shapes than Layer's")
        return layers


def as_plain(plan: TrainingPlan, weights: Mapping[str, np.ndarray]) -> tuple[PlainPlan, Mapping[str, np.ndarray]]:
    """Return the plan and the weights, (S, ...) each, of either engine as the plain one has them."""
    if isinstance(plan, PlainPlan):
        return plan, weights
    tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
    seeds = len(next(iter(weights.values())))
    states = [state_of_seed(tensors, place) for place in range(seeds)]
    stacked = {name: np.stack([state[name].numpy() for state in states]) for name in states[0]}
    return PlainPlan.of_paper(plan), stacked


def _drawn_apart(make: MakeNorm, plan: PlainPlan, seed: int) -> MakeNorm:
    """Return a maker of normalisers that draw from streams of their own, so that all else starts as without them."""
    numbers = itertools.count()

    def make_norm(width: int) -> nn.Module:
        name = plan.root_seed, "initial", plan.variant.task_name, seed, "norm", next(numbers)
        with torch.random.fork_rng():
            torch.manual_seed(int(stream(*name).integers(2**63)))
            return make(width)

    return make_norm


def initial_model(plan: PlainPlan, seed: int) -> PlainModel:
    """Return the model of a seed with its initial weights, which no other seed and no variant changes.

    By torch's own initialisers; those of `paper` are the fast engine's, but beside a normaliser of modules. Raises
    InputError.
    """
    if plan.is_given:
        plan = copied(plan, f"copying {plan.name}")  # no two models share what options or defaults hold
    name = plan.root_seed, "initial", plan.variant.task_name, seed, "network"
    with torch.random.fork_rng():
        torch.manual_seed(int(stream(*name).integers(2**63)))
        model = PlainModel(plan, seed)
    if plan.network == PAPER and not plan.variant.has_norm_of_modules:
        weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, plan.variant.task_name, [seed])
        model.load_state_dict(state_of_seed(weights, 0))
    return model
