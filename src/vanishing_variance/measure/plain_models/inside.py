"""What is inside the plain engine's models: attention to the target, and the variance of O, of each layer and head.

S seeds, B sequences of a batch, I of a test, N items, H heads, d features of a head.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.task import TARGET
from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.parallel import Report, job
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.plain_models.limited import Weights, held_out, in_batches, model_of, of_seed
from vanishing_variance.plain.model import Batch, PlainModel, as_plain
from vanishing_variance.plain.plan import PlainPlan, has_inside

# By length: of each layer the numbers of `_inside`; and whether the target has the largest weight.
ByLength = Mapping[int, list[Float[np.ndarray, "I H 3"]]]
IsTarget = Mapping[int, Bool[np.ndarray, "S I"]]


def inside(
    plan: TrainingPlan, seeds: Sequence[int], weights: Weights, lengths: Sequence[int], sequences: int
) -> pd.DataFrame:
    """Return what is inside each layer and head, counted from 0: seed, layer, head, length, target, hard, variance.

    `target`: the attention to the target item; `hard`: the part of the sequences in which it is the largest, so that
    hard attention would find the target; `variance`: that of O over the head's features, before any normaliser. All
    are means over sequences. Raises InputError where the network has no `inside`, or one of other shapes.
    """
    return inside_and_target(plan, seeds, weights, lengths, sequences, sequences)[0]


def inside_and_target(
    plan: TrainingPlan, seeds: Sequence[int], weights: Weights, lengths: Sequence[int], tested: int, sequences: int
) -> tuple[pd.DataFrame, IsTarget]:
    """Return `inside` of the first of the `tested` sequences, and whether the target has the largest weight.

    The latter by length, (S, I), in the head that attends most to the target at the shortest length, of all layers;
    nothing of a task without a target.
    """
    plan, weights = as_plain(plan, weights)
    if not has_inside(plan.network):
        what = "it has no method inside(items, query) in the class of its forward"
        raise InputError(f"network {plan.network_name}: not measured; {what}")
    jobs = []
    for place, seed in enumerate(seeds):
        jobs.append(job(_of_seed, plan, seed, of_seed(weights, place), lengths, tested, sequences))
    with Progress(f"inside {plan.name}", len(seeds) * sequences * sum(lengths), "items") as progress:
        by_seed = parallel.run(jobs, progress)
    rows, is_target = [], []
    for seed, by_length in zip(seeds, by_seed, strict=True):
        rows += [(seed, *row) for row in _means(by_length)]
        is_target.append(_is_target(by_length))
    frame = pd.DataFrame(rows, columns=["seed", "layer", "head", "length", "target", "hard", "variance"])
    frame = frame.sort_values(["length", "seed"], kind="stable", ignore_index=True)
    found = is_target[0] if all(is_target) else {}  # of one seed nothing, where its weights are no numbers
    return frame, {length: np.stack([of_one[length] for of_one in is_target]) for length in found}


def _of_seed(
    plan: PlainPlan, seed: int, weights: Weights, lengths: Sequence[int], tested: int, sequences: int, report: Report
) -> ByLength:
    """Return of each length, and each layer, `_inside` of a seed's model."""
    model = model_of(plan, seed, weights)
    by_length = {}
    for length in lengths:
        drawn = {name: array[:sequences] for name, array in held_out(plan, length, tested).items()}
        batches = in_batches(partial(_inside, model), plan, length, drawn, report)
        by_length[length] = [torch.cat(of_layer).numpy(force=True) for of_layer in zip(*batches, strict=True)]
    return by_length


def _means(by_length: ByLength) -> Iterator[tuple[Any, ...]]:
    """Yield layer, head, length and the means over sequences of each number of `_inside`."""
    for length, layers in by_length.items():
        for layer, of_layer in enumerate(layers):
            for head, means in enumerate(of_layer.mean(axis=0, dtype=np.float64)):
                yield layer, head, length, *means.tolist()


def _is_target(by_length: ByLength) -> dict[int, Bool[np.ndarray, " I"]]:
    """Return by length whether the target has the largest weight, in the head that attends most to it."""
    heads = {length: np.concatenate(layers, axis=1) for length, layers in by_length.items()}
    attention = heads[min(heads)][:, :, 0].mean(axis=0)
    if np.isnan(attention).any():
        return {}
    most = attention.argmax()
    return {length: of_length[:, most, 1] == 1 for length, of_length in heads.items()}


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
            hard = hard.masked_fill(~layer.weights.isfinite().all(2), torch.nan)
        measured.append(torch.stack((attention, hard, variance), dim=-1))
    return measured
