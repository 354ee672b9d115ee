"""The plan of a training by the plain engine: a network by name or by class, and its options."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from torch import nn

from vanishing_variance.engine import options as options_of
from vanishing_variance.engine import registry
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.engine.variant import NAMED, Given
from vanishing_variance.harness.errors import InputError, shown

NetworkChoice = str | type[nn.Module]
# Of a network's constructor, before its options: sizes and norm.
GIVEN = 2


@dataclass(frozen=True)
class PlainPlan(TrainingPlan):
    """A training plan, `network`, the name of a file of networks/ or a class, and `options`, its keyword arguments.

    `starts`: a seed, and the hash of its initial weights, which every process that trains must have.
    """

    is_plain: ClassVar[bool] = True

    network: NetworkChoice = PAPER  # type: ignore[assignment]
    options: Mapping[str, Any] = field(default_factory=dict)
    starts: tuple[int, str] | None = None

    @property
    def is_given(self) -> bool:
        """True where something of it is given in place of a name: what that keeps, a copy must not share."""
        return super().is_given or not isinstance(self.network, str)

    @classmethod
    def of(
        cls,
        params: Mapping[str, Any],
        run: Run,
        network: NetworkChoice = PAPER,
        options: Mapping[str, Any] | None = None,
        *,
        given: Given = NAMED,
    ) -> "PlainPlan":
        """Return the plan of a run by params.yaml. Raises InputError for a network or an option that there is not."""
        load_network(network)
        plan = TrainingPlan.of(params, run, given=given)
        if network != PAPER:
            return cls(**vars(plan), network=network, options=check_options(network, options or {}))
        return cls.of_paper(plan)

    @classmethod
    def of_paper(cls, plan: TrainingPlan) -> "PlainPlan":
        """Return the plan of the fast engine's network."""
        variant = plan.variant
        attention = variant.attention_name if variant.given.attention is None else variant.attention
        options = {**variant.model.model_dump(exclude={"epsilon"}), "attention": attention}
        return cls(**vars(plan), network=PAPER, options=options)


def network_name(network: NetworkChoice) -> str:
    """Return the name of a network's file, or of its class."""
    return network if isinstance(network, str) else network.__name__


def load_network(network: NetworkChoice) -> type[nn.Module]:
    """Return the class of a network. Raises InputError for an unknown name, and for what is no such class."""
    loaded: Any = network
    if isinstance(network, str):
        loaded = getattr(registry.load("networks", network), "Network", None)
    if not isinstance(loaded, type) or not issubclass(loaded, nn.Module):
        allowed = "a class that is an nn.Module, or the name of a file of networks/ with such a class, Network"
        raise InputError(f"network is {shown(network)}; must be {allowed}")
    return loaded


def option_kinds(network: NetworkChoice) -> dict[str, inspect.Parameter]:
    """Return a network's options by name: all parameters but self, sizes and norm. Raises InputError."""
    return options_of.kinds(load_network(network), GIVEN)


def check_options(network: NetworkChoice, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options, each of its annotated type. Raises InputError, which names what the network takes."""
    return options_of.checked(f"network {network_name(network)}", load_network(network), given, GIVEN)
