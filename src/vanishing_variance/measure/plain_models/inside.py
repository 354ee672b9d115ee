"""What is inside the plain engine's models: attention to the target, and the variance of O, of each layer and head.

B sequences of a batch, N items, H heads, d features of a head.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.task import TARGET
from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.parallel import Report, job
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.plain_models.limited import Weights, held_out, in_batches, model_of, of_seed
from vanishing_variance.plain.model import Batch, PlainModel, as_plain
from vanishing_variance.plain.plan import PlainPlan, load_network


def has_inside(plan: TrainingPlan) -> bool:
    """Return whether what is inside the network can be measured."""
    return hasattr(load_network(plan.network), "inside")


def inside(
    plan: TrainingPlan, seeds: Sequence[int], weights: Weights, lengths: Sequence[int], sequences: int
) -> pd.DataFrame:
    """Return what is inside each layer and head, counted from 0: seed, layer, head, length, target, hard, variance.

    `target`: the attention to the target item; `hard`: the part of the sequences in which it is the largest, so that
    hard attention would find the target; `variance`: that of O over the head's features, before any normaliser. All
    are means over sequences. Raises InputError where the network has no `inside`, or one of other shapes.
    """
    plan, weights = as_plain(plan, weights)
    if not has_inside(plan):
        raise InputError(f"network {plan.network_name}: not measured; it has no method inside(items, query)")
    by_place = enumerate(seeds)
    jobs = [job(_insides, plan, seed, of_seed(weights, place), lengths, sequences) for place, seed in by_place]
    with Progress(f"inside {plan.name}", len(seeds) * sequences * sum(lengths), "items") as progress:
        by_seed = parallel.run(jobs, progress)
    rows = [(seed, *row) for seed, own in zip(seeds, by_seed, strict=True) for row in own]
    frame = pd.DataFrame(rows, columns=["seed", "layer", "head", "length", "target", "hard", "variance"])
    return frame.sort_values(["length", "seed"], kind="stable", ignore_index=True)


def _insides(
    plan: PlainPlan, seed: int, weights: Weights, lengths: Sequence[int], sequences: int, report: Report
) -> list[tuple[Any, ...]]:
    """Return layer, head, length and the means of `_inside` of a seed's model."""
    model = model_of(plan, seed, weights)
    rows: list[tuple[Any, ...]] = []
    for length in lengths:
        drawn = held_out(plan, length, sequences)
        batches = in_batches(partial(_inside, model), plan, length, drawn, report)
        for layer, of_layer in enumerate(zip(*batches, strict=True)):
            means = torch.cat(of_layer).double().mean(0).tolist()
            rows += [(layer, head, length, *of_head) for head, of_head in enumerate(means)]
    return rows


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
