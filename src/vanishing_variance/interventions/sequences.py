"""The sequences that interventions are tested on, and others that they are calibrated on.

B sequences, N items.
"""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from vanishing_variance.core.device import device
from vanishing_variance.core.ranges import Range
from vanishing_variance.core.task import Sequences, Task
from vanishing_variance.inference.models import Read
from vanishing_variance.interventions.config import Interventions


def first(read: Read, sequences: int, size: int) -> Iterator[Sequences]:
    """Yield the first of the test sequences of one length, at most `size` at a time."""
    for part in read(min(size, sequences)):
        yield {name: array[:sequences] for name, array in part.items()}
        sequences -= len(part["target"])
        if sequences <= 0:
            return


def of_length(task: Task, rng: np.random.Generator, sequences: int, length: int, size: int) -> Iterator[Sequences]:
    """Yield new sequences of one length, at most `size` at a time; the same ones whatever `size` is."""
    drawn = task.sample(rng, sequences, length)
    for start in range(0, sequences, size):
        yield {name: array[start : start + size] for name, array in drawn.items()}


def of_training(
    task: Task, rng: np.random.Generator, sequences: int, lengths: Range, items: int
) -> Iterator[Sequences]:
    """Yield new sequences of lengths that are uniform over the training lengths, at most `items` items at a time."""
    drawn = rng.integers(lengths.shortest, lengths.longest + 1, size=sequences)
    for length, count in zip(*(of.tolist() for of in np.unique(drawn, return_counts=True)), strict=True):
        yield from of_length(task, rng, count, length, max(1, items // length))


def drawn(rng: np.random.Generator, tested: int, how: Interventions) -> dict[str, Int64[Tensor, " B"]]:
    """Return which calibration sequence each sequence has what is set from, independently and uniformly.

    Of the training lengths, for each of `tested` ones: `weight` and `profile`; for each calibration sequence of the
    long length: `calibrated`. Of the long length, for each tested sequence of the training lengths: `damage`.
    """
    of = {"weight": (how.training_sequences, tested), "profile": (how.training_sequences, tested)}
    of |= {"calibrated": (how.training_sequences, how.sequences), "damage": (how.sequences, how.training_sequences)}
    return {
        name: torch.from_numpy(rng.integers(there, size=number)).to(device()) for name, (there, number) in of.items()
    }
