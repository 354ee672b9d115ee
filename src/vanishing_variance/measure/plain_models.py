"""Accuracy and the inside of the plain engine's models, on the same test sequences as the fast engine's.

S seeds, B sequences of a batch, I of a test, N items, H heads, d features of a head.
"""

import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import psutil
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from vanishing_variance.engine.device import device
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import TARGET, Sequences
from vanishing_variance.harness import cgroups, memory, parallel
from vanishing_variance.harness.errors import InputError, TooLargeError
from vanishing_variance.harness.jobs import job
from vanishing_variance.harness.parallel import Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.evaluation.block import Correct
from vanishing_variance.measure.held_out import held_out_stream
from vanishing_variance.measure.inference.models import ITEMS_IN_BATCH, to_device
from vanishing_variance.measure.training_loss import fresh_sequences
from vanishing_variance.networks.paper import state_of_seed
from vanishing_variance.plain.model import Batch, PlainModel, initial_model
from vanishing_variance.plain.plan import PlainPlan, load_network

# Sequences of a length that are enough for means of what is inside.
INSIDE = 128
# What a batch may take of it; the rest is for other processes.
PART_OF_FREE_MEMORY = 0.8

Weights = Mapping[str, np.ndarray]
Answer = TypeVar("Answer")


def held_out(plan: PlainPlan, length: int, number: int) -> Sequences:
    """Draw `number` test sequences with their `label`, those that the fast engine's models get."""
    task = plan.variant.task
    rng = held_out_stream(plan.root_seed, plan.variant.task_name, length)
    sequences = task.sample(rng, number, length)
    sequences["label"] = task.label(sequences)
    return sequences


@torch.no_grad()
def in_batches(
    answer: Callable[[Batch], Answer], plan: PlainPlan, length: int, sequences: Sequences, progress: Report
) -> list[Answer]:
    """Return what `answer` returns for each batch of sequences of a length; batches halve until memory is enough.

    `progress` is called with the items of each. Raises TooLargeError where it is not for one sequence.
    """
    answers: list[Answer] = []
    size = max(1, ITEMS_IN_BATCH[device().type] // length)
    first, number = 0, len(sequences["label"])
    while first < number:
        batch = {name: to_device(array[first : first + size]) for name, array in sequences.items()}
        try:
            with _limited(), _noise(plan, length, first):
                answers.append(answer(batch))
            first += size
            progress(len(batch["label"]) * length)
        except Exception as problem:
            if not memory.ran_out(problem):
                raise
            if size == 1:
                what = f"network {plan.network_name} with one sequence of {length} items"
                raise TooLargeError(f"{what} needs more memory than there is; lower test.lengths") from None
            size //= 2
    return answers


def plain_correct(
    plan: PlainPlan, seeds: Sequence[int], weights: Mapping[str, Weights], lengths: Sequence[int], sequences: int
) -> Correct:
    """Return by rule and length whether each answer of each model is correct.

    `weights`, (S, ...) each, by rule: `plain`, the last ones, and those kept beside them. Raises TooLargeError for a
    length of which memory does not hold one sequence.
    """
    jobs = []
    for place, seed in enumerate(seeds):
        of_seed = {rule: _of_seed(of_rule, place) for rule, of_rule in weights.items()}
        jobs.append(job(_answers, plan, seed, of_seed, lengths, sequences))
    with Progress(f"test {plan.name}", len(weights) * len(seeds) * sequences * sum(lengths), "items") as progress:
        by_seed = parallel.run(jobs, progress)
    return {key: np.stack([answers[key] for answers in by_seed]) for key in by_seed[0]}


def plain_losses(plan: PlainPlan, seeds: Sequence[int], weights: Mapping[str, Weights]) -> pd.DataFrame:
    """Return the loss of every model at the training lengths in nats, as `training_losses`: seed, rule, loss."""
    torch.set_num_threads(1)  # several would spin beside other stages
    rows = []
    for rule, of_rule in weights.items():
        for place, seed in enumerate(seeds):
            model = _model(plan, seed, _of_seed(of_rule, place))
            by_length = []
            for length, sequences in fresh_sequences(plan).items():
                losses = in_batches(partial(_cross_entropy, model), plan, length, sequences, lambda items: None)
                by_length.append(torch.cat(losses).double().mean())
            rows.append((seed, rule, torch.stack(by_length).mean().item()))
    return pd.DataFrame(rows, columns=["seed", "rule", "loss"])


def has_inside(plan: PlainPlan) -> bool:
    """Return whether what is inside the network can be measured."""
    return hasattr(load_network(plan.network), "inside")


def plain_inside(
    plan: PlainPlan, seeds: Sequence[int], weights: Weights, lengths: Sequence[int], sequences: int
) -> pd.DataFrame:
    """Return what is inside each layer and head, counted from 0: seed, layer, head, length, target, hard, variance.

    `target`: the attention to the target item; `hard`: the part of the sequences in which it is the largest, so that
    hard attention would find the target; `variance`: that of O over the head's features, before any normaliser. All
    are means over sequences. Raises InputError where the network has no `inside`, or one of other shapes.
    """
    if not has_inside(plan):
        raise InputError(f"network {plan.network_name}: not measured; it has no method inside(items, query)")
    by_place = enumerate(seeds)
    jobs = [job(_insides, plan, seed, _of_seed(weights, place), lengths, sequences) for place, seed in by_place]
    with Progress(f"inside {plan.name}", len(seeds) * sequences * sum(lengths), "items") as progress:
        by_seed = parallel.run(jobs, progress)
    rows = [(seed, *row) for seed, of_seed in zip(seeds, by_seed, strict=True) for row in of_seed]
    frame = pd.DataFrame(rows, columns=["seed", "layer", "head", "length", "target", "hard", "variance"])
    return frame.sort_values(["length", "seed"], kind="stable", ignore_index=True)


def paper_inside(plan: PlainPlan, seeds: Sequence[int], weights: Weights, lengths: Sequence[int]) -> pd.DataFrame:
    """Return `plain_inside` of weights of the fast engine."""
    tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
    states = [state_of_seed(tensors, place) for place in range(len(seeds))]
    stacked = {name: np.stack([state[name].numpy() for state in states]) for name in states[0]}
    return plain_inside(plan, seeds, stacked, lengths, INSIDE)


def _answers(
    plan: PlainPlan,
    seed: int,
    weights: Mapping[str, Weights],
    lengths: Sequence[int],
    sequences: int,
    report: Report,
) -> dict[tuple[str, int], Bool[np.ndarray, " I"]]:
    """Return by rule and length whether each answer of a seed's models is correct."""
    models = {rule: _model(plan, seed, of_rule) for rule, of_rule in weights.items()}
    correct = {}
    for length in lengths:
        drawn = held_out(plan, length, sequences)
        for rule, model in models.items():
            answers = in_batches(partial(_correct, model), plan, length, drawn, report)
            correct[rule, length] = torch.cat(answers).cpu().numpy()
    return correct


def _insides(
    plan: PlainPlan, seed: int, weights: Weights, lengths: Sequence[int], sequences: int, report: Report
) -> list[tuple[Any, ...]]:
    """Return layer, head, length and the means of `_inside` of a seed's model."""
    model = _model(plan, seed, weights)
    rows: list[tuple[Any, ...]] = []
    for length in lengths:
        drawn = held_out(plan, length, sequences)
        batches = in_batches(partial(_inside, model), plan, length, drawn, report)
        for layer, of_layer in enumerate(zip(*batches, strict=True)):
            means = torch.cat(of_layer).double().mean(0).tolist()
            rows += [(layer, head, length, *of_head) for head, of_head in enumerate(means)]
    return rows


def _of_seed(weights: Weights, place: int) -> Weights:
    return {name: np.asarray(array[place]) for name, array in weights.items()}


def _model(plan: PlainPlan, seed: int, weights: Weights) -> PlainModel:
    """Return a seed's model with its weights, on the device."""
    model = initial_model(plan, seed)
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return model.to(device()).eval()


def _correct(model: PlainModel, batch: Batch) -> Bool[Tensor, " B"]:
    class_logits: Tensor = model(batch)
    return class_logits.argmax(-1) == batch["label"]


def _cross_entropy(model: PlainModel, batch: Batch) -> Float[Tensor, " B"]:
    return cross_entropy(model(batch), batch["label"], reduction="none")


def _inside(model: PlainModel, batch: Batch) -> list[Float[Tensor, "B H 3"]]:
    """Return of each layer attention to the target, whether it is the largest, NaN without one, and O's variance."""
    measured = []
    for layer in model.inside(batch):
        variance = layer.outputs.var(-1, correction=0)
        attention = hard = torch.full_like(variance, torch.nan)  # not measured
        if TARGET in batch:
            target = batch[TARGET].view(-1, 1, 1)
            attention = layer.weights.gather(2, target.expand(-1, layer.weights.shape[1], -1)).squeeze(2)
            hard = (layer.weights.argmax(2) == target.squeeze(2)).to(attention)
        measured.append(torch.stack((attention, hard, variance), dim=-1))
    return measured


@contextmanager
def _noise(plan: PlainPlan, length: int, first: int) -> Iterator[None]:
    """Let a network that draws random numbers draw those of a batch, the same ones whatever was tested before."""
    with torch.random.fork_rng():
        name = plan.root_seed, "noise", plan.variant.task_name, "test", length, first
        torch.manual_seed(int(stream(*name).integers(2**63)))
        yield


@contextmanager
def _limited() -> Iterator[None]:
    """Let an allocation beyond the free memory fail; else Linux grants it, and kills this process when it is used."""
    if sys.platform != "linux" or device().type != "cpu":
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    used = psutil.Process().memory_info().data
    # other seeds are tested at the same time, as many as there are cores, in other stages too
    most = used + int(PART_OF_FREE_MEMORY * memory.free_memory() / cgroups.cores())
    soft = most if before[0] == resource.RLIM_INFINITY else min(most, before[0])
    resource.setrlimit(resource.RLIMIT_DATA, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
