"""Inference with a block of trained models.

S seeds, B sequences, N items, D width, C classes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64, Shaped
from torch import Tensor

from vanishing_variance.engine.attend import attend, weighted_sum
from vanishing_variance.engine.device import device
from vanishing_variance.engine.interfaces import Weights
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.network import Network
from vanishing_variance.engine.task import Sequences, Task
from vanishing_variance.engine.variant import Variant
from vanishing_variance.measure.inference.sequences import Read
from vanishing_variance.measure.inference.temperature import PUBLISHED, Temperature, entropy

# The items of a batch, over all its sequences and models: enough that the work done once a batch is little beside them.
ITEMS_IN_BATCH = {"cpu": 2**16, "cuda": 2**20}

StoredWeights = Mapping[str, Float[np.ndarray, "S ..."]]


@dataclass(frozen=True)
class BatchAnswers:
    """Answers of S models to B sequences.

    `correct`, by temperature: True where the answer is. The others are those of the plain softmax: the items' `logits`
    and the `entropy` of their softmax in nats; the attention outputs O `before` and `after` the normaliser.
    """

    correct: Mapping[str, Bool[Tensor, "S B"]]
    logits: Float[Tensor, "S B N"]
    entropy: Float[Tensor, "S B"]
    before: Float[Tensor, "S B D"]
    after: Float[Tensor, "S B D"]


@dataclass(frozen=True)
class Models:
    """Trained models of one variant; the tables of their task's embedding are computed once."""

    task: Task
    network: Network
    weights: Weights
    tables: Weights

    @classmethod
    @torch.no_grad()
    def of(cls, variant: Variant, weights: StoredWeights) -> "Models":
        """Return the models with these weights, on the device."""
        network = variant.network()
        tensors = {name: to_device(array) for name, array in weights.items()}
        return cls(variant.task, network, tensors, network.tables(tensors))

    def batch_size(self, length: int) -> int:
        """Return the number of sequences in a batch: one, or as many as have ITEMS_IN_BATCH items over all models."""
        num_models = len(self.weights["head.0.weight"])
        items = ITEMS_IN_BATCH[device().type] // num_models
        return max(1, items // length)

    def encode(self, sequences: Sequences) -> tuple[Items, Float[Tensor, "S QB D"]]:
        """Return `Network.encode` of sequences that all models share."""
        batch = {}
        for name, array in sequences.items():
            batch[name] = to_device(array).unsqueeze(0)
        return self.network.encode(self.weights, batch, self.tables)

    def labels(self, sequences: Sequences) -> Int64[Tensor, " B"]:
        """Return the correct class of each sequence."""
        return to_device(self.task.label(sequences))

    def outputs(self, context: Float[Tensor, "S B D"]) -> tuple[Float[Tensor, "S B D"], Float[Tensor, "S B D"]]:
        """Return the attention outputs O of contexts, before and after the normaliser."""
        before = self.network.outputs(self.weights, context)
        return before, self.network.normalise(self.weights, before)

    def class_logits(self, context: Float[Tensor, "S B D"]) -> Float[Tensor, "S B C"]:
        """Return the class logits of contexts."""
        _, normalised = self.outputs(context)
        return self.read_out(normalised)

    def read_out(self, normalised: Float[Tensor, "S B D"]) -> Float[Tensor, "S B C"]:
        """Return the class logits, given O after the normaliser."""
        return self.network.read_out(self.weights, normalised)

    @torch.no_grad()
    def answer(self, sequences: Sequences, fitted: Temperature) -> BatchAnswers:
        """Return the answers to a batch that the models share, at three temperatures.

        `plain`: the softmax; `adaptive`: the published polynomial of Veličković et al.; `fitted`: our own.
        """
        labels = self.labels(sequences)
        items, folded_query = self.encode(sequences)
        logits, context = attend(items, folded_query)
        entropies = entropy(logits)
        before, after = self.outputs(context)
        correct = {"plain": self.read_out(after).argmax(-1) == labels}
        for name, temperature in (("adaptive", PUBLISHED), ("fitted", fitted)):
            beta = temperature.beta(entropies)
            class_logits = self.class_logits(sharpened(items, logits, beta, context))
            correct[name] = class_logits.argmax(-1) == labels
        return BatchAnswers(correct, logits, entropies, before, after)

    def test(self, sequences: Read, length: int, fitted: Temperature) -> Iterator[tuple[Sequences, BatchAnswers]]:
        """Yield the answers to all sequences of one length, a batch at a time."""
        for batch in sequences(self.batch_size(length)):
            yield batch, self.answer(batch, fitted)

    def accuracy(self, sequences: Read, length: int, fitted: Temperature) -> dict[str, Float64[np.ndarray, " S"]]:
        """Return the fraction of correct answers of each model, by temperature."""
        batches = self.test(sequences, length, fitted)
        correct = joined(answers.correct for _, answers in batches)
        return {temperature: answers.mean(axis=1) for temperature, answers in correct.items()}


def sharpened(
    items: Items, logits: Float[Tensor, "S B N"], beta: Float[Tensor, "S B"], plain: Float[Tensor, "S B D"]
) -> Float[Tensor, "S B D"]:
    """Return the context softmax(beta logits) h, from the logits and the context `plain` of `attend`.

    Where beta is 1 it is `plain`, to the last bit, whatever the other sequences of the batch. Elsewhere weights below
    eps / 2N are left out, for speed: all together change the context by less than eps / 2 of the largest h.
    """
    beta = beta.unsqueeze(-1)
    sharper = beta > 1
    if not sharper.any():
        return plain
    weights = torch.softmax(beta * logits, dim=-1)
    negligible = weights < torch.finfo(weights.dtype).eps / (2 * weights.shape[-1])
    weights = weights.masked_fill(negligible | ~sharper, 0)
    return torch.where(sharper, weighted_sum(items, weights), plain)


def at_target(values: Float[Tensor, "S B N"], sequences: Sequences) -> Float[Tensor, "S B"]:
    """Return the value of each sequence's target item."""
    target = to_device(sequences["target"]).view(1, -1, 1)
    return torch.take_along_dim(values, target, dim=-1).squeeze(-1)


def joined(batches: Iterable[Mapping[str, Shaped[Tensor, "S _ ..."]]]) -> dict[str, Shaped[np.ndarray, "S B ..."]]:
    """Return the tensors of several batches as one array for each name, all sequences along the second axis."""
    all_batches = list(batches)
    arrays = {}
    for name in all_batches[0]:
        tensors = [batch[name] for batch in all_batches]
        arrays[name] = torch.cat(tensors, dim=1).cpu().numpy()
    return arrays


def select_models(weights: StoredWeights, places: slice) -> dict[str, Float[np.ndarray, "_ ..."]]:
    """Return the weights of the models at these places of a block."""
    return {name: array[places] for name, array in weights.items()}


def to_device(array: Shaped[np.ndarray, "..."]) -> Shaped[Tensor, "..."]:
    """Return an array as a tensor on the device."""
    return torch.from_numpy(array).to(device())
