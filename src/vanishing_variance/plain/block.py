"""Training of a block of seeds by the plain engine: a process each on a CPU, on a GPU all at once.

S seeds.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.checkpoints import fingerprint, to_arrays
from vanishing_variance.engine.device import device
from vanishing_variance.engine.ensemble import TrainedBlock, joined
from vanishing_variance.engine.loop import STEPS_PER_RECORD
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.plain.ensemble import Single, Stacked, can_stack
from vanishing_variance.plain.jobs import job
from vanishing_variance.plain.loop import train
from vanishing_variance.plain.model import check_network, initial_model
from vanishing_variance.plain.plan import PlainPlan


def train_block(plan: PlainPlan, seeds: Sequence[int], checkpoints: Path | None = None) -> TrainedBlock:
    """Train a block of seeds; weights are named as in the state of a `PlainModel`.

    A training that was cut off goes on from its checkpoints in the folder `checkpoints`, which takes a network by name:
    of a class's code nothing is known. Raises InputError where the network does not fit, and DivergedError.
    """
    check_network(plan, seeds[0])
    together = device().type != "cpu" and _can_stack(plan, seeds)
    chunks = [list(seeds)] if together else [[seed] for seed in seeds]
    jobs: list[Job] = []
    for some_seeds in chunks:
        path = None
        if checkpoints is not None and isinstance(plan.network, str):
            path = checkpoints / f"{some_seeds[0]}-{fingerprint(plan, some_seeds)}.safetensors"
        jobs.append(job(_train_chunk, plan, some_seeds, path))
    with Progress(f"train {plan.name}", plan.steps * len(seeds), "seed-steps") as progress:
        blocks = parallel.run(jobs, progress)
    return joined(blocks)


def _can_stack(plan: PlainPlan, seeds: Sequence[int]) -> bool:
    """Return whether the seeds are trained at once."""
    batch, labels = next(batches(plan, seeds[:2]))
    on_device = {name: array.to(device()) for name, array in batch.items()}
    models = [initial_model(plan, seed).to(device()) for seed in seeds[:2]]
    return can_stack(models, on_device, labels.to(device()))


def _train_chunk(plan: PlainPlan, seeds: Sequence[int], checkpoint: Path | None, report: Report) -> TrainedBlock:
    """Train some seeds of a block."""
    torch.set_num_threads(1)  # several would sum in another order
    models = [initial_model(plan, seed).to(device()).train() for seed in seeds]
    ensemble = Single(models[0]) if len(models) == 1 else Stacked(models)
    with torch.random.fork_rng():
        losses, others = train(plan, ensemble, seeds, report, checkpoint)
    records = len(losses)
    last_steps = STEPS_PER_RECORD * np.arange(1, records + 1)
    columns = {
        "seed": np.repeat(seeds, records),
        "step": np.tile(last_steps.clip(max=plan.steps), len(seeds)),
        "loss": losses.T.ravel(),
    }
    other_arrays = {name: to_arrays(tensors) for name, tensors in others.items()}
    return TrainedBlock(to_arrays(ensemble.weights), pd.DataFrame(columns), other_arrays)
