"""The interface of a task: a distribution over (item sequence, query, label) at every length.

B sequences, N items.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Shaped

from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.sections import Count, Positive, Section

# Arrays by name: those that a task declares, and where one item holds the answer its position, TARGET (B,) int64.
Sequences = dict[str, Shaped[np.ndarray, "B ..."]]
TARGET = "target"
# Of categories: a whole number, or the name of the task's parameter that has it.
Classes = int | str
# Of several categories of an item together, beside one or a number, at most.
MOST_TOGETHER = 2**12


class TaskTraining(Section):
    """Training of a task, but for its steps; `tasks.<name>.training` in params.yaml."""


class EmbeddingTraining(TaskTraining):
    """Learned embeddings are trained with the network (B.1); their initial scale decides Table 2."""

    embedding_width: Count = 64
    embedding_std: Positive = 0.125


@dataclass(frozen=True)
class Number:
    """A number, float32; or so many side by side, `width`, along a last axis of their own: as many features."""

    width: int = 1


@dataclass(frozen=True)
class OneHot:
    """A category, a whole number below `classes`: so many features, of which its own is 1."""

    classes: Classes


@dataclass(frozen=True)
class Embedded:
    """A category, whose features are its row of a learned table; the same name is the same table."""

    classes: Classes
    table: str


Feature = Number | OneHot | Embedded
Features = Mapping[str, Feature]


class Task(Section, ABC):
    """A task's data distribution. Its fields are the task's parameters, `tasks.<name>.data` in params.yaml.

    `items` and `query` say what an item and the query consist of, by name of the array, (B, N) and (B,); a task may
    have no query. `label_classes`: how many classes a label has. `independent`: whether the sequences of a sample are
    independent and identically distributed, and drawn from `rng` alone, so that those of many steps may be drawn as
    one, and of several seeds side by side; else each batch is a sample.
    """

    items: ClassVar[Features] = {}
    query: ClassVar[Features] = {}
    label_classes: ClassVar[Classes]
    independent: ClassVar[bool] = False

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Let a class that samples in its own way say anew whether it is `independent`."""
        if "sample" in vars(cls) and "independent" not in vars(cls):
            cls.independent = False

    @abstractmethod
    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `sequences` sequences of `length` items, drawn from `rng` alone.

        Beside arrays of items and query, and `target`, there may be others, (B, ...), which `label` alone reads.
        """

    @abstractmethod
    def label(self, batch: Sequences) -> Shaped[np.ndarray, " B"]:
        """Return the correct class of each sequence, int64 in [0, num_classes), which its own arrays decide."""

    def sample_iid(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return sequences as Proposition 1 assumes them: items i.i.d., and one query for all; without `target`."""
        raise InputError(f"Proposition 1 is not measured: {type(self).__name__} has no sample_iid")

    def enumerate_iid(self) -> Iterator[Sequences]:
        """Yield every item of the i.i.d. distribution once, each as probable as the others.

        In parts of bounded size: single sequences (1, n) with the query of `sample_iid`.
        """
        raise InputError(f"Proposition 1 is not measured: {type(self).__name__} has no enumerate_iid")

    @property
    def longest(self) -> int | None:
        """The longest sequence that the task has; None where there is no limit."""
        return None

    @property
    def num_classes(self) -> int:
        """The number of output classes."""
        return self.number(self.label_classes)

    @property
    def item_features(self) -> dict[str, Feature]:
        """What an item consists of, with numbers of classes."""
        return {name: self._counted(feature) for name, feature in self.items.items()}

    @property
    def query_features(self) -> dict[str, Feature]:
        """What the query consists of, with numbers of classes."""
        return {name: self._counted(feature) for name, feature in self.query.items()}

    @property
    def tables(self) -> dict[str, int]:
        """The number of rows of each learned table."""
        features = [*self.item_features.values(), *self.query_features.values()]
        return {feature.table: count(feature) for feature in features if isinstance(feature, Embedded)}

    @classmethod
    def training_class(cls) -> type[TaskTraining]:
        """Return the class of what its training has of its own."""
        features = [*cls.items.values(), *cls.query.values()]
        embeds = any(isinstance(feature, Embedded) for feature in features)
        return EmbeddingTraining if embeds else TaskTraining

    def number(self, classes: Any) -> int:
        """Return the number of classes, which may be a parameter's."""
        return int(getattr(self, classes) if isinstance(classes, str) else classes)

    def _counted(self, feature: Feature) -> Feature:
        return feature if isinstance(feature, Number) else replace(feature, classes=self.number(feature.classes))


def why_plain(network: Any, task: Task, *, norm_of_modules: bool = False) -> str:
    """Return why the plain engine trains a network on a task; nothing where the fast one does."""
    if network != PAPER:
        return f"the fast engine trains network {PAPER} alone"
    if norm_of_modules:
        return "the normaliser is made of modules"
    items = task.item_features
    features = [*items.values(), *task.query_features.values()]
    if any(isinstance(feature, Number) and feature.width > 1 for feature in features):
        return "the fast engine takes numbers of one feature each"
    categories = [count(feature) for feature in items.values() if not isinstance(feature, Number)]
    numbers = len(items) - len(categories)
    beside = sorted(categories) if numbers else sorted(categories)[:-1]
    if numbers > 1 or (len(beside) > 1 and prod(beside) > MOST_TOGETHER):
        takes = f"one number at most, and beside another categories of at most {MOST_TOGETHER} classes together"
        return f"the fast engine takes items of {takes}"
    return ""


def name_of(task: Task) -> str:
    """Return the name of a task that is given as it is: of its file in tasks/, or of its class."""
    kind, folder = type(task), "vanishing_variance.tasks."
    in_folder = kind.__module__.startswith(folder)
    return kind.__module__.removeprefix(folder) if in_folder else kind.__name__


def count(feature: Feature) -> int:
    """Return the number of rows by which the network reads a feature of a task's `item_features`, 1 of a number."""
    return feature.width if isinstance(feature, Number) else int(feature.classes)


def widths(features: Features, training: TaskTraining) -> list[int]:
    """Return how many numbers each feature gives the network; of no features [1], the constant 1."""
    numbers = []
    for feature in features.values():
        if isinstance(feature, Embedded):
            assert isinstance(training, EmbeddingTraining)
            numbers.append(training.embedding_width)
        else:
            numbers.append(count(feature))
    return numbers or [1]
