"""Inference with a block of trained models.

S seeds, B sequences, N items, D width.

A sequence is gone through once for the logits, their entropy and the plain output, and for each adaptive temperature
that sharpens any sequence of the batch once more through the items that then have a weight. What is kept for an item is
its logit.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Shaped
from torch import Tensor

from vanishing_variance.engine.attention import attend, weighted_sum
from vanishing_variance.engine.device import device
from vanishing_variance.engine.interfaces import Weights
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.network import Network
from vanishing_variance.engine.task import Sequences, Task
from vanishing_variance.engine.variant import Variant
from vanishing_variance.measure.inference.temperature import PUBLISHED, Temperature, entropy

# The items of a batch, over all sequences and models: so many that what is done once a batch is little beside them.
ITEMS_IN_BATCH = {"cpu": 2**16, "cuda": 2**20}

Key = TypeVar("Key", bound=Any)

# The test sequences of one length, at most so many at a time.
Read = Callable[[int], Iterator[Sequences]]


@dataclass(frozen=True)
class Answers:
    """Answers of S models to B sequences.

    `correct`, by temperature, whether the answer is. With the plain softmax: the `logits` of the items, their `entropy`
    in nats, and the attention outputs O, `before` and `after` the normaliser.
    """

    correct: Mapping[str, Bool[Tensor, "S B"]]
    logits: Float[Tensor, "S B N"]
    entropy: Float[Tensor, "S B"]
    before: Float[Tensor, "S B D"]
    after: Float[Tensor, "S B D"]


@dataclass(frozen=True)
class Models:
    """Trained models of one variant; the rows of tables that they look up are computed once."""

    task: Task
    network: Network
    weights: Weights
    tables: Weights

    @classmethod
    @torch.no_grad()
    def of(cls, variant: Variant, weights: Mapping[str, Float[np.ndarray, "S ..."]]) -> "Models":
        """Return the models with these weights, on the device."""
        network = variant.network()
        on_device = {name: torch.from_numpy(array).to(device()) for name, array in weights.items()}
        return cls(variant.task, network, on_device, network.tables(on_device))

    @property
    def batch_items(self) -> int:
        """The number of items that a batch may have."""
        return ITEMS_IN_BATCH[device().type] // len(next(iter(self.weights.values())))

    def encode(self, sequences: Sequences) -> tuple[Items, Float[Tensor, "S QB D"]]:
        """Return `Network.encode` of sequences that all models share."""
        batch = {name: torch.from_numpy(array).to(device())[None] for name, array in sequences.items()}
        return self.network.encode(self.weights, batch, self.tables)

    @torch.no_grad()
    def answer(self, sequences: Sequences, fitted: Temperature) -> Answers:
        """Return the answers to a batch that the models share, at three temperatures.

        `plain`: the softmax; `adaptive`: the published polynomial of Veličković et al.; `fitted`: our own.
        """
        labels = torch.from_numpy(self.task.label(sequences)).to(device())
        items, folded_query = self.encode(sequences)
        logits, plain = attend(items, folded_query)
        spread, contexts = entropy(logits), {"plain": plain}
        for name, temperature in {"adaptive": PUBLISHED, "fitted": fitted}.items():
            contexts[name] = sharpened(items, logits, temperature.beta(spread), plain)
        before = {name: self.network.outputs(self.weights, context) for name, context in contexts.items()}
        after = {name: self.network.normalise(self.weights, outputs) for name, outputs in before.items()}
        classes = {name: self.network.read_out(self.weights, outputs).argmax(-1) for name, outputs in after.items()}
        correct = {name: of == labels for name, of in classes.items()}
        return Answers(correct, logits, spread, before["plain"], after["plain"])

    def test(self, sequences: Read, length: int, fitted: Temperature) -> Iterator[tuple[Sequences, Answers]]:
        """Yield the answers to all sequences of one length, a batch at a time."""
        for part in sequences(max(1, self.batch_items // length)):
            yield part, self.answer(part, fitted)

    def accuracy(self, sequences: Read, length: int, fitted: Temperature) -> dict[str, Float64[np.ndarray, " S"]]:
        """Return the fraction of correct answers of each model, by temperature."""
        return {
            name: correct.mean(axis=1)
            for name, correct in joined(answers.correct for _, answers in self.test(sequences, length, fitted)).items()
        }


def sharpened(
    items: Items, logits: Float[Tensor, "S B N"], beta: Float[Tensor, "S B"], plain: Float[Tensor, "S B D"]
) -> Float[Tensor, "S B D"]:
    """Return the context softmax(beta logits) h, from the logits and the context `plain` that `attend` has found.

    Where beta is 1 it is `plain`, to the last bit, whatever the other sequences of the batch. Elsewhere weights below
    eps / 2N are left out: all of them together change the context by less than eps / 2 of the largest h, which is the
    rounding of one sum. Where attention is sharp, hardly an item has more.
    """
    beta = beta.unsqueeze(-1)
    sharper = beta > 1
    if not sharper.any():
        return plain
    weights = torch.softmax(beta * logits, dim=-1)
    negligible = weights < torch.finfo(weights.dtype).eps / (2 * weights.shape[-1])
    return torch.where(sharper, weighted_sum(items, weights.masked_fill(negligible | ~sharper, 0)), plain)


def joined(batches: Iterator[Mapping[Key, Shaped[Tensor, "S B ..."]]]) -> dict[Key, Shaped[np.ndarray, "S B ..."]]:
    """Return the arrays of several batches as one for each name, all sequences along the second axis."""
    parts: dict[Key, list[np.ndarray]] = {}
    for batch in batches:
        for name, tensor in batch.items():
            parts.setdefault(name, []).append(tensor.cpu().numpy())
    return {name: np.concatenate(arrays, axis=1) for name, arrays in parts.items()}
