"""Training of a block of seeds: on a GPU as one ensemble, on a CPU in fixed chunks over the cores.

S seeds.
"""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from vanishing_variance.engine import checkpoints
from vanishing_variance.engine.device import device
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.loop import STEPS_PER_RECORD, arrays, train
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Report
from vanishing_variance.harness.progress import Progress


def train_block(
    plan: TrainingPlan, seeds: Sequence[int], kept: Path | None = None
) -> tuple[dict[str, np.ndarray], pd.DataFrame]:
    """Train a block of seeds.

    Return the weights by name, (S, ...) each, and the training losses: seed, step, loss (nats, the mean over the
    STEPS_PER_RECORD steps that end with `step`). A training that was cut off goes on from its checkpoints in the folder
    `kept`. Raises DivergedError.
    """
    size = plan.training.seeds_per_process if device().type == "cpu" else len(seeds)
    chunks = [seeds[first : first + size] for first in range(0, len(seeds), size)]
    paths = [None] * len(chunks) if kept is None else _checkpoints(plan, chunks, kept)
    jobs = [partial(_train_chunk, plan, chunk, path) for chunk, path in zip(chunks, paths, strict=True)]
    with Progress(f"train {plan.name}", plan.steps * len(seeds), "seed-steps") as progress:
        trained = parallel.run(jobs, progress)
    weights = {name: np.concatenate([of[name] for of, _ in trained]) for name in trained[0][0]}
    history = np.concatenate([history for _, history in trained], axis=1)
    records = np.minimum((np.arange(len(history)) + 1) * STEPS_PER_RECORD, plan.steps)
    columns = {
        "seed": np.repeat(seeds, len(records)),
        "step": np.tile(records, len(seeds)),
        "loss": history.T.ravel(),
    }
    return weights, pd.DataFrame(columns)


def _checkpoints(plan: TrainingPlan, chunks: Sequence[Sequence[int]], folder: Path) -> list[Path]:
    """Return the paths of the chunks' checkpoints; a line says when there are others, which are left alone."""
    plan.variant.network()  # whose modules are part of the code
    paths = [folder / f"{chunk[0]}-{checkpoints.fingerprint(plan, chunk)}.safetensors" for chunk in chunks]
    others = checkpoints.others(folder, paths)
    if others:
        print(f"train {plan.name}: {folder} has {len(others)} checkpoints of other parameters or code", file=sys.stderr)
    return paths


def _train_chunk(
    plan: TrainingPlan, seeds: Sequence[int], kept: Path | None, report: Report
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the weights of some seeds, and their losses (records, S)."""
    how = plan.variant.initial(plan.task_training)
    drawn = draw(how, plan.root_seed, plan.variant.task_name, seeds)
    weights = {name: tensor.to(device()) for name, tensor in drawn.items()}
    history = train(plan, weights, seeds, report, kept)
    return arrays(weights), history
