"""Variants of the experiment: a task, an attention map and a normaliser, and their network."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from vanishing_variance.engine import options as options_of
from vanishing_variance.engine import registry
from vanishing_variance.engine.config import Model
from vanishing_variance.engine.drawing import require_same
from vanishing_variance.engine.embedding import Embedding
from vanishing_variance.engine.initialisation import Initial
from vanishing_variance.engine.interfaces import Normaliser, Rescaled, Weighting, of_heads
from vanishing_variance.engine.network import Network, initial
from vanishing_variance.engine.task import Sequences, Task, TaskTraining
from vanishing_variance.harness.caller import as_before
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.memory import in_one_line
from vanishing_variance.harness.sections import get_param


@dataclass(frozen=True)
class Given:
    """Choices given as they are, each beside its name in a variant; of the others the name says what is loaded.

    `drawn`: sequences of the task with their labels, which it must draw again wherever it is read. Raises InputError
    where it does not.
    """

    task: Task | None = None
    norm: Any = None
    attention: Any = None
    drawn: Sequences | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.task is not None and self.drawn is not None:
            with as_before():
                require_same(self.task, self.drawn)


# All by name.
NAMED = Given()
# Of a file whose choice takes options.
CLASSES = {"norms": "Norm", "attentions": "Map"}


@dataclass(frozen=True)
class Variant:
    """Names, parameters and what is given in place of a name, so that it can be sent to another process."""

    task_name: str
    norm_name: str
    task: Task
    model: Model
    attention_name: str = "softmax"
    given: Given = NAMED
    norm_options: Mapping[str, Any] = field(default_factory=dict)
    attention_options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, params: Mapping[str, Any], task: str, norm: str, attention: str = "softmax", given: Given = NAMED
    ) -> "Variant":
        """Return the variant by params.yaml, whose options are of its own norm and attention. Raises InputError."""
        data = registry.task_of(params, task) if given.task is None else given.task
        model = get_param(params, "model", Model)
        options = [
            params.get(f"{key}_options", {}) if name == params.get(key, name) else {}
            for key, name in (("norm", norm), ("attention", attention))
        ]
        return cls(task, norm, data, model, attention, given, *options)

    @property
    def attention(self) -> Rescaled | Weighting:
        """The attention map. Raises InputError for an unknown or incomplete one."""
        attention = self.given.attention
        if attention is None:
            attention = made("attentions", self.attention_name, self.attention_options)
        if not isinstance(attention, Rescaled | Weighting):
            wanted = "LEARNABLE, and scale, as ssmax.py has, or weights, as length_gain.py has"
            raise InputError(f"{_place(attention)}: an attention map has {wanted}")
        if isinstance(attention, Rescaled) and isinstance(attention, Weighting):
            raise InputError(f"{_place(attention)}: an attention map has scale or weights, not both")
        _check_learnable(attention)
        return attention

    @property
    def norm(self) -> Normaliser:
        """The normaliser. Raises InputError for an unknown or incomplete one."""
        norm = self.given.norm
        if norm is None:
            norm = made("norms", self.norm_name, self.norm_options)
        if not isinstance(norm, Normaliser):
            raise InputError(f"{_place(norm)}: a normaliser has LEARNABLE and normalise, as ln.py has")
        _check_learnable(norm)
        if of_heads(norm):
            raise InputError(
                f"{_place(norm)}: OF_HEADS is {shown(of_heads(norm))}; an attention map has it, and no norm"
            )
        return norm

    def network(self) -> Network:
        """Return the network. Raises InputError for a choice that is incomplete."""
        return Network(Embedding(self.task), self.attention, self.norm, self.model)

    @property
    def has_norm_of_modules(self) -> bool:
        """True where the normaliser was given as a class of modules, or as anything else that makes one of a width."""
        norm = self.given.norm
        return callable(norm) and not hasattr(norm, "normalise") and not hasattr(norm, "LEARNABLE")

    def initial(self, training: TaskTraining) -> dict[str, Initial]:
        """Return how each tensor of one seed starts."""
        network = self.network()
        embedding = network.embedding.initial(training, self.model.width)
        return initial(network, embedding, self.task.num_classes)


def made(folder: str, name: str, options: Mapping[str, Any]) -> Any:
    """Return a choice by name: its file, or an object of the class in it, made with the options. Raises InputError."""
    file = registry.load(folder, name)
    kind = CLASSES[folder]
    own = getattr(file, kind, None)
    if own is None:
        if options:
            raise InputError(f"{folder}/{name}.py has no option {shown(next(iter(options)))}, but for a class {kind}")
        return file
    checked = options_of.checked(f"{folder}/{name}.py", own, options)
    with in_one_line(f"{folder}/{name}.py: {kind}"):
        return own(**checked)


def _check_learnable(choice: Any) -> None:
    """Raise InputError where initial values are no numbers by name, or a name has two."""
    for what in ("LEARNABLE", "OF_HEADS"):
        initial = getattr(choice, what, {})
        fits = isinstance(initial, Mapping) and all(isinstance(value, Real) for value in initial.values())
        if not fits or not all(isinstance(name, str) and name.isidentifier() for name in initial):
            example = '{"scale": 1.0}'
            raise InputError(
                f"{_place(choice)}: {what} is {shown(initial)}; must be numbers by name, such as {example}"
            )
    for name in choice.LEARNABLE.keys() & of_heads(choice).keys():
        raise InputError(f"{_place(choice)}: {name} is in LEARNABLE and in OF_HEADS; must be in one")


def _place(choice: Any) -> str:
    """Return the file of a module, or the name of a class, an object's too."""
    return str(getattr(choice, "__file__", None) or getattr(choice, "__name__", type(choice).__name__))
