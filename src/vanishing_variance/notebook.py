"""Training and evaluation of one variant in memory, without DVC: for notebooks and scripts.

The same seeds and streams as in the pipeline, so the same parameters give the same accuracies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.ensemble import train_block
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.leaderboard.files import TRAINED
from vanishing_variance.leaderboard.testing import answer
from vanishing_variance.measure.held_out import Test, held_out_stream
from vanishing_variance.measure.inference.models import Models, joined
from vanishing_variance.measure.inference.sequences import Read, of_length
from vanishing_variance.measure.inference.temperature import UNCHANGED
from vanishing_variance.params import check
from vanishing_variance.results.scale import changed


@dataclass(frozen=True)
class Trained:
    """Trained models of one variant.

    `weights` by name, (seeds, ...) each; `losses`: seed, step, loss (nats). `params` are those they were trained with.
    """

    plan: TrainingPlan
    seeds: Sequence[int]
    weights: Mapping[str, np.ndarray]
    losses: pd.DataFrame
    params: Mapping[str, Any]


def read_params(changes: Mapping[str, Any] | None = None, path: Path = PATH) -> dict[str, Any]:
    """Return params.yaml with `changes` by dotted key, such as {"model.width": 64}.

    Raises InputError, which names the key, its value and what is allowed.
    """
    params = changed(read_yaml(path), changes or {})
    check(params)
    return params


def train(
    params: Mapping[str, Any],
    task: str,
    norm: str,
    seeds: Sequence[int],
    range_: str = "short",
    attention: str = "softmax",
) -> Trained:
    """Train `seeds` of a variant, over all cores or on the GPU.

    `task`: argmax or dictionary; `norm`: a file of norms/; `range_`: short (up to 16 items) or long (up to 256);
    `attention`: a file of attentions/.
    Raises InputError for unknown names, DivergedError for a loss that is not finite.
    """
    plan = TrainingPlan.of(params, Run(task, range_, norm, 0), attention)
    numbers = [int(seed) for seed in seeds]
    weights, losses = train_block(plan, numbers)
    return Trained(plan, numbers, weights, losses, params)


def evaluate(trained: Trained, lengths: Sequence[int] | None = None, sequences: int | None = None) -> pd.DataFrame:
    """Return the accuracy of every model: seed, temperature (plain, adaptive), length, accuracy as a fraction.

    An attention map that is no softmax has no temperature: `plain` is the map as trained.
    `lengths` and `sequences` a length are those of params.yaml by default. Fewer sequences are other sequences than
    the pipeline's.
    """
    test: Test = get_param(trained.params, "test", Test)
    variant = trained.plan.variant
    models = Models.of(variant, trained.weights)
    rows = []
    for length in lengths or test.lengths:
        rng = held_out_stream(trained.plan.root_seed, variant.task_name, length)
        read = partial(of_length, variant.task, rng, sequences or test.sequences, length)
        for temperature, accuracies in _accuracies(models, read, length).items():
            for seed, accuracy in zip(trained.seeds, accuracies.tolist(), strict=True):
                rows.append((seed, temperature, length, accuracy))
    return pd.DataFrame(rows, columns=["seed", "temperature", "length", "accuracy"])


def _accuracies(models: Models, read: Read, length: int) -> dict[str, np.ndarray]:
    if models.network.rescaled:
        accuracies = models.accuracy(read, length, UNCHANGED)
        return {"plain": accuracies["plain"], "adaptive": accuracies["adaptive"]}
    batches = [answer(models, batch)[0] for batch in read(models.batch_size(length))]
    correct = joined(batches)[TRAINED]
    return {"plain": correct.mean(axis=1)}
