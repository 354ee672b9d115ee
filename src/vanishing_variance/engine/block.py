"""Training of a block of seeds: on a GPU as one ensemble, on a CPU in fixed chunks over the cores.

S seeds.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine import loop
from vanishing_variance.engine.checkpoints import fingerprint, to_arrays
from vanishing_variance.engine.device import device
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.interfaces import Weights
from vanishing_variance.engine.plan import TrainedBlock, TrainingPlan
from vanishing_variance.engine.steps import FastSteps
from vanishing_variance.engine.trial import check_choices
from vanishing_variance.harness import parallel
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.parallel import Report, job
from vanishing_variance.harness.progress import Progress

# Trains some seeds of a plan with a checkpoint, and reports the seed-steps completed.
Train = Callable[[Any, Sequence[int], Path | None, Report], TrainedBlock]


def train_block(plan: TrainingPlan, seeds: Sequence[int], checkpoints: Path | None = None) -> TrainedBlock:
    """Train a block of seeds.

    A training that was cut off goes on from its checkpoints in the folder `checkpoints`. Raises InputError where a
    normaliser or an attention map does not fit, and DivergedError.
    """
    grows_with = {
        "training.batch_size": plan.training.batch_size,
        "seeds_per_block": len(seeds),
        f"ranges.{plan.range_name}.longest": plan.lengths.longest,
        "model.width": plan.variant.model.width,
    }
    require_memory(prod(grows_with.values()), grows_with)
    check_choices(plan, seeds[0])
    size = plan.training.seeds_per_process if device().type == "cpu" else len(seeds)
    return train_in_chunks(_train_chunk, plan, seeds, size, checkpoints)


def train_in_chunks(
    train: Train,
    plan: TrainingPlan,
    seeds: Sequence[int],
    size: int,
    checkpoints: Path | None,
) -> TrainedBlock:
    """Return a block of which `train` trains `size` seeds at once, on a CPU several such chunks side by side.

    `train` is called with the plan, seeds, the file of their checkpoint and what to report seed-steps to.
    """
    # here, where all modules are loaded that decide the training: another process loads them as it trains
    mark = fingerprint(plan, seeds) if checkpoints else ""
    jobs = []
    for first in range(0, len(seeds), size):
        chunk = seeds[first : first + size]
        path = checkpoints / f"{chunk[0]}-{len(chunk)}-{mark}.safetensors" if checkpoints else None
        jobs.append(job(train, plan, chunk, path))
    with Progress(f"train {plan.name}", plan.steps * len(seeds), "seed-steps") as progress:
        return joined(parallel.run(jobs, progress))


def _train_chunk(plan: TrainingPlan, seeds: Sequence[int], checkpoint: Path | None, report: Report) -> TrainedBlock:
    variant = plan.variant
    initial = draw(variant.initial(plan.task_training), plan.root_seed, variant.task_name, seeds)
    weights = {name: tensor.to(device()) for name, tensor in initial.items()}
    losses, kept = loop.train(plan, FastSteps(plan, weights), seeds, report, checkpoint)
    return trained_block(plan, seeds, weights, losses, kept)


def trained_block(
    plan: TrainingPlan, seeds: Sequence[int], weights: Weights, losses: np.ndarray, kept: Mapping[str, Weights]
) -> TrainedBlock:
    """Return what a training of `losses` (records, S) leaves, on the CPU."""
    records = len(losses)
    last_steps = loop.STEPS_PER_RECORD * np.arange(1, records + 1)
    columns = {
        "seed": np.repeat(seeds, records),
        "step": np.tile(last_steps.clip(max=plan.steps), len(seeds)),
        "loss": losses.T.ravel(),
    }
    kept_arrays = {name: to_arrays(tensors) for name, tensors in kept.items()}
    return TrainedBlock(to_arrays(weights), pd.DataFrame(columns), kept_arrays)


def joined(chunks: Sequence[TrainedBlock]) -> TrainedBlock:
    """Return the block that consists of these chunks, one after another."""
    weights = _joined_weights([chunk.weights for chunk in chunks])
    losses = pd.concat([chunk.losses for chunk in chunks], ignore_index=True)
    kept = {}
    for name in chunks[0].kept:
        kept[name] = _joined_weights([chunk.kept[name] for chunk in chunks])
    return TrainedBlock(weights, losses, kept)


def _joined_weights(of_chunks: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    joined = {}
    for name in of_chunks[0]:
        joined[name] = np.concatenate([weights[name] for weights in of_chunks])
    return joined
