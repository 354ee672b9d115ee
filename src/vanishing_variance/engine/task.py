"""The interface of a task: a distribution over (item sequence, query, label) at every length.

B sequences, N items.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from jaxtyping import Int64, Shaped

from vanishing_variance.harness.sections import Section

# Arrays by name. Every task has `query` (B,), and `target` (B,): the
# position of the item that holds the answer; what an item consists of, (B, N) each, is the task's own.
Sequences = dict[str, Shaped[np.ndarray, "B ..."]]


class Task(Section, ABC):
    """A task's data distribution. Its fields are the task's parameters, `tasks.<name>.data` in params.yaml."""

    @property
    @abstractmethod
    def num_classes(self) -> int:
        """The number of output classes."""

    @property
    def longest(self) -> int | None:
        """The longest sequence that the task has; None where there is no limit."""
        return None

    @abstractmethod
    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `sequences` independent sequences of `length` items, drawn from `rng`."""

    @abstractmethod
    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """Return the correct class of each sequence, in [0, num_classes)."""

    @abstractmethod
    def sample_iid(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return sequences as Proposition 1 assumes them: items i.i.d., and one query for all; without `target`."""

    @abstractmethod
    def enumerate_iid(self) -> Iterator[Sequences]:
        """Yield every item of the i.i.d. distribution once, each as probable as the others.

        In parts of bounded size: single sequences (1, n) with the query of `sample_iid`.
        """


class TaskTraining(Section):
    """Training of a task, but for its steps; `tasks.<name>.training` in params.yaml."""
