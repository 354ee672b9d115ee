"""Training (Section 3, B.1): fresh sequences at every step, Adam, cross-entropy; a block of seeds at once.

S seeds, B sequences a batch. The sequence of lengths is shared by all seeds, and nothing else is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from vanishing_variance import parallel
from vanishing_variance.device import device
from vanishing_variance.errors import DivergedError
from vanishing_variance.kernels.adam import Adam
from vanishing_variance.model.initialisation import draw
from vanishing_variance.model.network import Network, Weights
from vanishing_variance.model.variant import Variant
from vanishing_variance.parallel import Report
from vanishing_variance.params.experiment import Training
from vanishing_variance.params.ranges import Range
from vanishing_variance.progress import Progress
from vanishing_variance.seeding import stream
from vanishing_variance.tasks.base import TaskTraining

# Sequences are drawn for this many steps at a time, from a stream of their own for each seed: a generator call a step
# and seed would cost more than the step. Whole draws are always made, so a longer run begins as a shorter one does
# (unless lengths grow, whose growth a longer run stretches).
STEPS_PER_DRAW = 256
# The loss is recorded as its mean over this many steps.
STEPS_PER_RECORD = 100


@dataclass(frozen=True)
class Plan:
    """All that a training depends on, apart from the seeds. Names and parameters only, so it can be sent elsewhere."""

    name: str
    root: int
    range_name: str
    lengths: Range
    variant: Variant
    optimiser: Training
    schedule: TaskTraining


def train_block(plan: Plan, seeds: Sequence[int]) -> tuple[dict[str, np.ndarray], pd.DataFrame]:
    """Train a block of seeds: on a GPU as one ensemble, on a CPU in fixed chunks over the cores.

    Returns the weights by name, (S, ...) each, and the training losses: seed, step, loss (nats, the mean over the
    STEPS_PER_RECORD steps that end with `step`). Raises DivergedError.
    """
    size = plan.optimiser.seeds_per_process if device().type == "cpu" else len(seeds)
    jobs = [partial(_train_chunk, plan, seeds[first : first + size]) for first in range(0, len(seeds), size)]
    with Progress(f"train {plan.name}", plan.schedule.steps * len(seeds), "seed-steps") as progress:
        chunks = parallel.run(jobs, progress)
    weights = {name: np.concatenate([chunk[0][name] for chunk in chunks]) for name in chunks[0][0]}
    losses = np.concatenate([chunk[1] for chunk in chunks], axis=1)
    records = np.minimum((np.arange(len(losses)) + 1) * STEPS_PER_RECORD, plan.schedule.steps)
    columns = {
        "seed": np.repeat(seeds, len(records)),
        "step": np.tile(records, len(seeds)),
        "loss": losses.T.ravel(),
    }
    return weights, pd.DataFrame(columns)


def _train_chunk(plan: Plan, seeds: Sequence[int], report: Report) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The weights of some seeds, and their losses (records, S)."""
    how = plan.variant.initial(plan.schedule)
    drawn = draw(how, plan.root, plan.variant.task_name, seeds)
    weights = {name: tensor.to(device()) for name, tensor in drawn.items()}
    losses = train(plan, weights, seeds, lambda steps: report(steps * len(seeds)))
    return {name: tensor.cpu().numpy() for name, tensor in weights.items()}, losses


def train(
    plan: Plan, weights: dict[str, Tensor], seeds: Sequence[int], report: Report = lambda steps: None
) -> np.ndarray:
    """Train `weights`, in place, by Adam with decoupled decay, on fresh sequences at every step.

    Returns the losses (records, S) in nats, float32. `report` is called with the steps made since its last call. Raises
    DivergedError, which names the first step and seed whose loss is not finite, or a weight that is not finite at the
    end: no seed is ever dropped.
    """
    network = plan.variant.network()
    for tensor in weights.values():
        tensor.requires_grad_()
    rate, decay = plan.optimiser.learning_rate, plan.optimiser.weight_decay
    optimiser = Adam(weights, network.inputs.LOOKED_UP, rate, decay, plan.schedule.steps)
    sequences = batches(plan, seeds)
    history = []
    for first in range(0, plan.schedule.steps, STEPS_PER_RECORD):
        recorded = []
        for _ in range(min(STEPS_PER_RECORD, plan.schedule.steps - first)):
            batch, labels = next(sequences)
            batch = {name: array.to(device()) for name, array in batch.items()}
            looked_up = network.inputs.looked_up(batch)
            optimiser.prepare(looked_up)
            loss = losses(network, weights, batch, labels.to(device()))
            loss.sum().backward()
            optimiser.step(looked_up)
            recorded.append(loss.detach())
        window = torch.stack(recorded).cpu().numpy()
        if not np.isfinite(window).all():
            step, seed = np.argwhere(~np.isfinite(window))[0]
            loss, when = window[step, seed], first + int(step) + 1
            raise DivergedError(f"train {plan.name}: the loss of seed {seeds[seed]} is {loss} at step {when}")
        history.append(window.mean(0))
        report(len(window))
    optimiser.finish()
    for name, tensor in weights.items():
        tensor.requires_grad_(False)
        bad = (~torch.isfinite(tensor.flatten(1))).any(1).nonzero()
        if len(bad):
            seed = seeds[int(bad[0])]
            raise DivergedError(f"train {plan.name}: {name} of seed {seed} is not finite after the last step")
    return np.stack(history)


def losses(network: Network, weights: Weights, batch: Weights, labels: Tensor) -> Tensor:
    """Each seed's mean cross-entropy in nats, (S,)."""
    logits = network(weights, batch)
    each = cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    return each.view_as(labels).mean(1)


def lengths(plan: Plan, number: int) -> np.ndarray:
    """The lengths of the steps of one draw (`number`, from 0), the same for all seeds: (STEPS_PER_DRAW,).

    Uniform up to `longest`, or where the range grows, up to what it has grown to at each step (B.2).
    """
    rng = stream(plan.root, "lengths", plan.variant.task_name, plan.range_name, number)
    shortest, growth = plan.lengths.shortest, plan.lengths.growth
    if growth is None:
        return rng.integers(shortest, plan.lengths.longest, endpoint=True, size=STEPS_PER_DRAW)
    steps = number * STEPS_PER_DRAW + np.arange(STEPS_PER_DRAW)
    grown = np.minimum(steps / (growth.until * plan.schedule.steps), 1)
    if growth.shape == "linear":
        longest = growth.start + grown * (plan.lengths.longest - growth.start)
    else:
        longest = growth.start * (plan.lengths.longest / growth.start) ** grown
    # rounded before its floor is taken: 16 * (256 / 16)^1 must not be 255.99999999999997
    choices = np.floor(longest.round(6)) - shortest + 1
    above: np.ndarray = (rng.random(STEPS_PER_DRAW) * choices).astype(np.int64)
    return shortest + above


def batches(plan: Plan, seeds: Sequence[int]) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
    """Endless training batches: arrays by name, (S, B, ...) each, and labels (S, B)."""
    for number in count():
        name = ("train", plan.variant.task_name, plan.range_name)
        streams = [stream(plan.root, *name, seed, number) for seed in seeds]
        steps = lengths(plan, number)
        unused = {
            length: _draw(plan, streams, length, often)
            for length, often in zip(*(of.tolist() for of in np.unique(steps, return_counts=True)), strict=True)
        }
        yield from (next(unused[length]) for length in steps.tolist())


def _draw(
    plan: Plan, streams: list[np.random.Generator], length: int, steps: int
) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
    """`steps` batches of one length, each seed's from its own stream."""
    task, size = plan.variant.task, plan.optimiser.batch_size
    drawn = [task.sample(rng, steps * size, length) for rng in streams]
    arrays = {name: np.stack([one[name] for one in drawn]) for name in drawn[0]}
    labels = np.stack([task.label(one) for one in drawn])
    for first in range(0, steps * size, size):
        part = np.s_[:, first : first + size]
        batch = {name: torch.from_numpy(array[part]) for name, array in arrays.items()}
        yield batch, torch.from_numpy(labels[part])
