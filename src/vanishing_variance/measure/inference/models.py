"""Inference with a block of trained models.

S seeds, B sequences, N items, D width, P features of a context, C classes; BH rows of attention, the heads of a
sequence one after another.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int8, Int64, Shaped
from torch import Tensor

from vanishing_variance.engine.attend import attend, products, weighted_sum
from vanishing_variance.engine.device import device
from vanishing_variance.engine.drawing import LABEL, labels_of
from vanishing_variance.engine.interfaces import Weights
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.network import Network
from vanishing_variance.engine.task import TARGET, Sequences, Task
from vanishing_variance.engine.variant import Variant
from vanishing_variance.measure.inference.temperature import adaptive_beta, entropy

# The items of a batch, over all its sequences and models: enough that the work done once a batch is little beside them.
ITEMS_IN_BATCH = {"cpu": 2**16, "cuda": 2**20}

# Of an answer; 0 is a wrong one.
CORRECT, NO_ANSWER = 1, -1

StoredWeights = Mapping[str, Float[np.ndarray, "S ..."]]


@dataclass(frozen=True)
class Attended:
    """Attention and its outputs O, of S models for B sequences, with the attention map as trained.

    The `logits` and attention `weights` of the `items`; the `context`, from which O is made; O `before` and `after` the
    normaliser. `rescaled`: the weights are a softmax.
    """

    items: Items
    logits: Float[Tensor, "S BH N"]
    weights: Float[Tensor, "S BH N"]
    context: Float[Tensor, "S BH P"]
    before: Float[Tensor, "S B D"]
    after: Float[Tensor, "S B D"]
    rescaled: bool

    @cached_property
    def largest(self) -> Int64[Tensor, "S BH"]:
        """The place of the largest weight, of equal ones that of the largest logit, which a softmax keeps."""
        if self.rescaled:
            return self.logits.argmax(-1)
        is_largest = self.weights == self.weights.amax(-1, keepdim=True)
        return self.logits.masked_fill(~is_largest, -torch.inf).argmax(-1)

    @cached_property
    def entropy(self) -> Float[Tensor, "S B"]:
        """The entropy of the softmax of the logits, in nats, the mean over heads."""
        return over_heads(entropy(self.logits), self.before.shape[1])


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
        """Return the number of sequences in a batch: one, or as many as have ITEMS_IN_BATCH items in all heads."""
        rows_of_sequence = len(self.weights["head.0.weight"]) * self.network.model.heads
        items = ITEMS_IN_BATCH[device().type] // rows_of_sequence
        return max(1, items // length)

    def encode(self, sequences: Sequences, length: int | None = None) -> tuple[Items, Float[Tensor, "S BH P"]]:
        """Return `Network.encode` of sequences that all models share."""
        read = self.task.items.keys() | self.task.query.keys()
        batch = {name: to_device(sequences[name]).unsqueeze(0) for name in sequences if name in read}
        return self.network.encode(self.weights, batch, self.tables, length)

    def labels(self, sequences: Sequences) -> Int64[Tensor, " B"]:
        """Return the correct class of each sequence."""
        labels = sequences[LABEL] if LABEL in sequences else labels_of(self.task, sequences)
        return to_device(labels)

    def outputs(self, context: Float[Tensor, "S BH P"]) -> tuple[Float[Tensor, "S B D"], Float[Tensor, "S B D"]]:
        """Return the attention outputs O of contexts, before and after the normaliser."""
        before = self.network.outputs(self.weights, context)
        return before, self.network.normalise(self.weights, before.clone())

    def class_logits(self, context: Float[Tensor, "S BH P"]) -> Float[Tensor, "S B C"]:
        """Return the class logits of contexts."""
        _, normalised = self.outputs(context)
        return self.read_out(normalised)

    def read_out(self, normalised: Float[Tensor, "S B D"]) -> Float[Tensor, "S B C"]:
        """Return the class logits, given O after the normaliser."""
        return self.network.read_out(self.weights, normalised)

    @torch.no_grad()
    def attended(self, sequences: Sequences) -> Attended:
        """Return attention and its outputs O for a batch that the models share.

        Maps and normalisers get copies, since they may write in place.
        """
        items, folded_query = self.encode(sequences)
        total = None
        if self.network.rescaled:
            logits, context = attend(items, folded_query)
            weights = self.network.attention_weights(self.weights, logits)
        else:
            logits = products(items, folded_query)
            weights = self.network.attention_weights(self.weights, logits.clone())
            context, total = weighted_sum(items, weights), weights.sum(-1)
        before = self.network.outputs(self.weights, context, total)
        after = self.network.normalise(self.weights, before.clone())
        return Attended(items, logits, weights, context, before, after, self.network.rescaled)

    @torch.no_grad()
    def answers(self, sequences: Sequences, attended: Attended) -> dict[str, Int8[Tensor, "S B"]]:
        """Return each answer (`marked`), by the rule that the models are tested with.

        `last` and `hard`, see `answers_as_trained`. Where the attention map is a softmax, `adaptive`: the temperature
        of Veličković et al., one for all heads of a sequence.
        """
        answers = self.answers_as_trained(sequences, attended)
        if self.network.rescaled:
            beta = adaptive_beta(attended.entropy).repeat_interleave(self.network.model.heads, dim=1)
            context = sharpened(attended.items, attended.logits, beta, attended.context)
            answers["adaptive"] = marked(self.class_logits(context), self.labels(sequences))
        return answers

    @torch.no_grad()
    def answers_as_trained(self, sequences: Sequences, attended: Attended) -> dict[str, Int8[Tensor, "S B"]]:
        """Return each answer by the rules `last`, as trained, and `hard`.

        The latter: all attention on the item of the largest weight, of equal ones of the largest logit; no answer where
        a weight is not a number.
        """
        labels = self.labels(sequences)
        largest = items_at(attended.items, attended.largest.unsqueeze(-1))
        class_logits = self.class_logits(largest.hidden().squeeze(2))
        of_heads = attended.weights.amax(-1).isfinite().unflatten(1, (len(labels), -1))  # NaN where a weight is
        hard = marked(class_logits, labels).masked_fill(~of_heads.all(-1), NO_ANSWER)
        return {"last": marked(self.read_out(attended.after), labels), "hard": hard}


def marked(class_logits: Float[Tensor, "*S B C"], labels: Int64[Tensor, " B"]) -> Int8[Tensor, "*S B"]:
    """Return CORRECT or 0 for each answer, and NO_ANSWER where the largest class logit is not finite."""
    correct = (class_logits.argmax(-1) == labels).to(torch.int8)
    return correct.masked_fill(~torch.isfinite(class_logits.amax(-1)), NO_ANSWER)


def sharpened(
    items: Items, logits: Float[Tensor, "S BH N"], beta: Float[Tensor, "S BH"], context: Float[Tensor, "S BH P"]
) -> Float[Tensor, "S BH P"]:
    """Return the context softmax(beta logits) h, from the logits and the `context` that `attend` returns.

    Where beta is 1 it is `context`, to the last bit, whatever the other sequences of the batch. Elsewhere weights below
    eps / 2N are left out, for speed: all together change the context by less than eps / 2 of the largest h.
    """
    beta = beta.unsqueeze(-1)
    sharper = beta > 1
    if not sharper.any():
        return context
    weights = torch.softmax(beta * logits, dim=-1)
    negligible = weights < torch.finfo(weights.dtype).eps / (2 * weights.shape[-1])
    weights = weights.masked_fill(negligible | ~sharper, 0)
    return torch.where(sharper, weighted_sum(items, weights), context)


def items_at(items: Items, places: Int64[Tensor, "#S _ K"], rows: Int64[Tensor, " _"] | slice = slice(None)) -> Items:
    """Return the items at some places of each sequence, of all sequences or of those in `rows`."""
    return items.select(lambda array: torch.take_along_dim(array[:, rows], places, dim=-1))


def at_target(values: Float[Tensor, "S BH N"], sequences: Sequences) -> Float[Tensor, "S BH"]:
    """Return the value of each sequence's target item, in every head; NaN of a task without one: not measured."""
    if TARGET not in sequences:
        return torch.full_like(values[..., 0], torch.nan)
    target = targets(sequences, values.shape[1]).view(1, -1, 1)
    return torch.take_along_dim(values, target, dim=-1).squeeze(-1)


def targets(sequences: Sequences, rows: int) -> Int64[Tensor, " BH"]:
    """Return the place of the target item in each row of attention, of which the heads of a sequence have the same."""
    target = to_device(sequences[TARGET])
    return target.repeat_interleave(rows // len(target))


def is_target(attended: Attended, sequences: Sequences) -> Bool[Tensor, "S BH"]:
    """Return whether the item with the largest attention weight is the target, in every head; of a task with one."""
    return attended.largest == targets(sequences, attended.largest.shape[1])


def over_heads(values: Float[Tensor, "S BH ..."], sequences: int) -> Float[Tensor, "S B ..."]:
    """Return the mean over the heads of each of the `sequences`."""
    means: Tensor = values.unflatten(1, (sequences, -1)).mean(2)
    return means


def joined(batches: Iterable[Mapping[str, Shaped[Tensor, "S _ ..."]]]) -> dict[str, Shaped[np.ndarray, "S B ..."]]:
    """Return the tensors of several batches as one array for each name, all sequences along the second axis."""
    all_batches = list(batches)
    arrays = {}
    for name in all_batches[0]:
        tensors = [batch[name] for batch in all_batches]
        arrays[name] = torch.cat(tensors, dim=1).cpu().numpy()
    return arrays


def chunks(seeds: int) -> Iterator[slice]:
    """Yield the places of models that are tested at once: on a CPU one, on a GPU half of the block."""
    size = 1 if device().type == "cpu" else (seeds + 1) // 2
    for first in range(0, seeds, size):
        yield slice(first, min(first + size, seeds))


def select_models(weights: StoredWeights, places: slice) -> dict[str, Float[np.ndarray, "_ ..."]]:
    """Return the weights of the models at these places of a block."""
    return {name: array[places] for name, array in weights.items()}


def to_device(array: Shaped[np.ndarray, "..."]) -> Shaped[Tensor, "..."]:
    """Return an array as a tensor on the device."""
    return torch.from_numpy(array).to(device())
