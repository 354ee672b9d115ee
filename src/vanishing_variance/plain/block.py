"""Training of a block of seeds by the plain engine: a process each on a CPU, on a GPU all at once.

Where a network draws random numbers, as for dropout, a GPU trains its seeds one after another, too: what a seed draws
depends on no other. A GPU draws other numbers than a CPU.

S seeds.
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.device import device
from vanishing_variance.engine.ensemble import TrainedBlock, train_in_chunks, trained_block
from vanishing_variance.harness.parallel import Report
from vanishing_variance.plain.check import check_network
from vanishing_variance.plain.ensemble import Single, Stacked, can_stack
from vanishing_variance.plain.loop import train
from vanishing_variance.plain.model import initial_model
from vanishing_variance.plain.plan import PlainPlan


def train_block(plan: PlainPlan, seeds: Sequence[int], checkpoints: Path | None = None) -> TrainedBlock:
    """Train a block of seeds; weights are named as in the state of a `PlainModel`.

    A training that was cut off goes on from its checkpoints in the folder `checkpoints`, which takes a network by name:
    of a class's code nothing is known. Raises InputError where the network does not fit, and DivergedError.
    """
    check_network(plan, seeds[0])
    together = device().type != "cpu" and _can_stack(plan, seeds)
    kept = checkpoints if isinstance(plan.network, str) else None
    return train_in_chunks(_train_chunk, plan, seeds, len(seeds) if together else 1, kept)


def _can_stack(plan: PlainPlan, seeds: Sequence[int]) -> bool:
    """Return whether the seeds are trained at once."""
    batch, labels = next(batches(plan, seeds[:2]))
    on_device = {name: array.to(device()) for name, array in batch.items()}
    models = [initial_model(plan, seed).to(device()) for seed in seeds[:2]]
    return can_stack(models, on_device, labels.to(device()))


def _train_chunk(plan: PlainPlan, seeds: Sequence[int], checkpoint: Path | None, report: Report) -> TrainedBlock:
    models = [initial_model(plan, seed).to(device()).train() for seed in seeds]
    ensemble = Single(models[0]) if len(models) == 1 else Stacked(models)
    with torch.random.fork_rng():
        losses, others = train(plan, ensemble, seeds, report, checkpoint)
    return trained_block(plan, seeds, ensemble.weights, losses, others)
