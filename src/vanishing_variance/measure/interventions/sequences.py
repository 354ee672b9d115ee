"""The sequences that interventions are tested on, and others that they are calibrated on.

B sequences, N items.
"""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from vanishing_variance.engine.device import device
from vanishing_variance.engine.task import Sequences
from vanishing_variance.measure.inference.models import Read
from vanishing_variance.measure.interventions.config import Interventions


def first(read: Read, sequences: int, size: int) -> Iterator[Sequences]:
    """Yield the first of the test sequences of one length, at most `size` at a time."""
    for part in read(min(size, sequences)):
        yield {name: array[:sequences] for name, array in part.items()}
        sequences -= len(part["target"])
        if sequences <= 0:
            return


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
