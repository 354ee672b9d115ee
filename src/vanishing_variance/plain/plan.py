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
# Of a network's constructor, before `attention`, where it takes that, and its options: sizes and norm.
GIVEN = 2


def has_inside(network: NetworkChoice) -> bool:
    """Return whether a network has an `inside` of its own computation, not of a class whose `forward` it replaces."""
    kind = load_network(network)
    classes = getattr(kind, "__mro__", ())
    of_inside = next((one for one in classes if "inside" in vars(one)), None)
    if of_inside is None or getattr(of_inside, "forward", nn.Module.forward) is nn.Module.forward:  # of a mixin
        return hasattr(kind, "inside")
    derived = [one for one in classes if issubclass(one, of_inside) and one is not of_inside]
    return not any("forward" in vars(one) for one in derived)


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
    def of_network(
        cls,
        params: Mapping[str, Any],
        run: Run,
        network: NetworkChoice,
        options: Mapping[str, Any] | None = None,
        *,
        given: Given = NAMED,
    ) -> "PlainPlan":
        """Return the plan of a run by params.yaml, of another network than the paper's. Raises InputError."""
        checked = check_options(network, options or {})
        check_attention(network, run.attention)
        plan = TrainingPlan.of(params, run, given=given)
        return cls(**vars(plan), network=network, options=checked)

    @classmethod
    def of_paper(cls, plan: TrainingPlan) -> "PlainPlan":
        """Return the plan of the fast engine's network."""
        return cls(**vars(plan), network=PAPER, options=plan.variant.model.model_dump(exclude={"epsilon"}))


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


def takes_attention(network: NetworkChoice) -> bool:
    """Return whether a network takes an attention map: `attention` after sizes and norm; an option has a default."""
    third = list(options_of.kinds(load_network(network), GIVEN).values())[:1]
    return [(one.name, one.default) for one in third] == [("attention", inspect.Parameter.empty)]


def check_attention(network: NetworkChoice, attention: str) -> None:
    """Raise InputError for an attention map of a network that takes none."""
    if attention != "softmax" and not takes_attention(network):
        said = f"network {network_name(network)} takes no attention map"
        raise InputError(f"attention is {attention}; {said}, as Network(sizes, norm, attention) does")


def option_kinds(network: NetworkChoice) -> dict[str, inspect.Parameter]:
    """Return a network's options by name: all parameters but self and those given. Raises InputError."""
    return options_of.kinds(load_network(network), _given(network))


def check_options(network: NetworkChoice, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options, each of its annotated type. Raises InputError, which names what the network takes."""
    kind = load_network(network)
    return options_of.checked(f"network {network_name(network)}", kind, given, _given(network))


def _given(network: NetworkChoice) -> int:
    return GIVEN + takes_attention(network)
