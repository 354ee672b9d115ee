"""Training of a block of seeds: on a GPU as one ensemble, on a CPU in fixed chunks over the cores.

S seeds.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from vanishing_variance.engine import loop
from vanishing_variance.engine.checkpoints import fingerprint, to_arrays
from vanishing_variance.engine.device import device
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress


def train_block(
    plan: TrainingPlan, seeds: Sequence[int], checkpoints: Path | None = None
) -> tuple[dict[str, np.ndarray], pd.DataFrame]:
    """Train a block of seeds.

    Return the weights by name, (S, ...) each, and the training losses: seed, step, loss (nats, the mean over the
    STEPS_PER_RECORD steps that end with `step`). A training that was cut off goes on from its checkpoints in the folder
    `checkpoints`. Raises DivergedError.
    """
    plan.variant.network()  # whose modules are part of the code that `fingerprint` reads
    size = plan.training.seeds_per_process if device().type == "cpu" else len(seeds)
    jobs: list[Job] = []
    for first in range(0, len(seeds), size):
        chunk = seeds[first : first + size]
        path = None
        if checkpoints is not None:
            path = checkpoints / f"{chunk[0]}-{fingerprint(plan, chunk)}.safetensors"
        jobs.append(partial(_train_chunk, plan, chunk, path))
    with Progress(f"train {plan.name}", plan.steps * len(seeds), "seed-steps") as progress:
        chunks = parallel.run(jobs, progress)
    chunk_weights, chunk_losses = zip(*chunks, strict=True)
    weights = {}
    for name in chunk_weights[0]:
        weights[name] = np.concatenate([of_chunk[name] for of_chunk in chunk_weights])
    return weights, pd.concat(chunk_losses, ignore_index=True)


def _train_chunk(
    plan: TrainingPlan, seeds: Sequence[int], checkpoint: Path | None, report: Report
) -> tuple[dict[str, np.ndarray], pd.DataFrame]:
    """Return the weights of some seeds, and their losses: seed, step, loss."""
    torch.set_num_threads(1)  # several would sum in another order
    variant = plan.variant
    initial = draw(variant.initial(plan.task_training), plan.root_seed, variant.task_name, seeds)
    weights = {name: tensor.to(device()) for name, tensor in initial.items()}
    losses = loop.train(plan, weights, seeds, report, checkpoint)
    records = len(losses)
    last_steps = loop.STEPS_PER_RECORD * np.arange(1, records + 1)
    columns = {
        "seed": np.repeat(seeds, records),
        "step": np.tile(last_steps.clip(max=plan.steps), len(seeds)),
        "loss": losses.T.ravel(),
    }
    return to_arrays(weights), pd.DataFrame(columns)
