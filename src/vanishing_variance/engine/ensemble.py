"""Training of a block of seeds: on a GPU as one ensemble, on a CPU in fixed chunks over the cores.

S seeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class TrainedBlock:
    """A block of trained seeds.

    `weights`: the last ones by name of the tensor, (S, ...) each, float32. `losses`: seed, step, loss (nats, the mean
    over the STEPS_PER_RECORD steps that end with `step`). `others`: the weights that are kept beside the last ones, of
    the same names and shapes: `averaged` (training.averaged_part), and such as `step_00001000` (training.kept_steps).
    """

    weights: dict[str, np.ndarray]
    losses: pd.DataFrame
    others: dict[str, dict[str, np.ndarray]]


def train_block(plan: TrainingPlan, seeds: Sequence[int], checkpoints: Path | None = None) -> TrainedBlock:
    """Train a block of seeds.

    A training that was cut off goes on from its checkpoints in the folder `checkpoints`. Raises DivergedError.
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
    return joined(chunks)


def _train_chunk(plan: TrainingPlan, seeds: Sequence[int], checkpoint: Path | None, report: Report) -> TrainedBlock:
    """Train some seeds of a block."""
    torch.set_num_threads(1)  # several would sum in another order
    variant = plan.variant
    initial = draw(variant.initial(plan.task_training), plan.root_seed, variant.task_name, seeds)
    weights = {name: tensor.to(device()) for name, tensor in initial.items()}
    losses, others = loop.train(plan, weights, seeds, report, checkpoint)
    records = len(losses)
    last_steps = loop.STEPS_PER_RECORD * np.arange(1, records + 1)
    columns = {
        "seed": np.repeat(seeds, records),
        "step": np.tile(last_steps.clip(max=plan.steps), len(seeds)),
        "loss": losses.T.ravel(),
    }
    other_arrays = {name: to_arrays(tensors) for name, tensors in others.items()}
    return TrainedBlock(to_arrays(weights), pd.DataFrame(columns), other_arrays)


def joined(chunks: Sequence[TrainedBlock]) -> TrainedBlock:
    """Return the block that consists of these chunks, one after another."""
    weights = _joined_weights([chunk.weights for chunk in chunks])
    losses = pd.concat([chunk.losses for chunk in chunks], ignore_index=True)
    others = {}
    for name in chunks[0].others:
        others[name] = _joined_weights([chunk.others[name] for chunk in chunks])
    return TrainedBlock(weights, losses, others)


def _joined_weights(of_chunks: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    joined = {}
    for name in of_chunks[0]:
        joined[name] = np.concatenate([weights[name] for weights in of_chunks])
    return joined
