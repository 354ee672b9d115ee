"""Testing trained models: accuracy with and without the adaptive temperature, and a look inside (Figures 2 to 4).

S seeds, B sequences, N items, D width, L lengths.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from vanishing_variance import parallel
from vanishing_variance.device import device
from vanishing_variance.model.attention import adaptive_beta, entropy
from vanishing_variance.model.network import Network, Weights, average_hidden
from vanishing_variance.model.variant import Variant
from vanishing_variance.parallel import Job, Report
from vanishing_variance.params.diagnostics import Diagnostics
from vanishing_variance.progress import Progress
from vanishing_variance.seeding import stream
from vanishing_variance.tasks.base import Sequences, Task

# How many items are looked at together: what fits a core's cache, or fills a GPU.
ITEMS_AT_ONCE = {"cpu": 2**12, "cuda": 2**20}

TEMPERATURES = ("plain", "adaptive")

# Figure 2 shows this many individual features of O, Figure 4 this many of the largest attention weights.
FEATURES_SHOWN = 5
LARGEST_WEIGHTS = 16


@dataclass(frozen=True)
class Plan:
    """All that an evaluation depends on, apart from weights and test sequences."""

    name: str
    root: int
    variant: Variant
    lengths: Sequence[int]
    diagnostics: Diagnostics


def evaluate_block(
    plan: Plan, weights: Mapping[str, np.ndarray], seeds: Sequence[int], sequences: Mapping[int, Sequences]
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Test a block of models on `sequences` (by length), and look inside the first of them.

    Returns the accuracies (seed, temperature, length, accuracy as a fraction), and what `diagnose` returns. On a CPU
    one model at a time, over the cores; on a GPU the block at once.
    """
    together = 1 if device().type == "cpu" else len(seeds)
    jobs: list[Job] = [partial(_diagnose_part, plan, {name: array[:1] for name, array in weights.items()})]
    for first in range(0, len(seeds), together):
        part = {name: array[first : first + together] for name, array in weights.items()}
        jobs.append(partial(_evaluate_part, plan, part, seeds[first : first + together], sequences))
    with Progress(f"evaluate {plan.name}", len(jobs) * len(plan.lengths), "lengths") as progress:
        inside, *measured = parallel.run(jobs, progress)
    return pd.concat(measured, ignore_index=True), inside


def _evaluate_part(
    plan: Plan,
    weights: Mapping[str, np.ndarray],
    seeds: Sequence[int],
    sequences: Mapping[int, Sequences],
    report: Report,
) -> pd.DataFrame:
    network, on_device = plan.variant.network(), _to_device(weights)
    rows: list[tuple[int, str, int, float]] = []
    for length in plan.lengths:
        for temperature, fractions in accuracy(network, on_device, plan.variant.task, sequences[length]).items():
            rows.extend((seed, temperature, length, one) for seed, one in zip(seeds, fractions, strict=True))
        report(1)
    frame = pd.DataFrame(rows, columns=["seed", "temperature", "length", "accuracy"])
    return frame.sort_values(["seed", "temperature", "length"], ignore_index=True)


def _diagnose_part(plan: Plan, weights: Mapping[str, np.ndarray], report: Report) -> dict[str, pd.DataFrame]:
    return diagnose(plan, _to_device(weights), report)


@torch.no_grad()
def accuracy(network: Network, weights: Weights, task: Task, sequences: Sequences) -> dict[str, np.ndarray]:
    """The fraction of right answers of each seed by temperature, `plain` and `adaptive`: (S,) float64 each."""
    tables = network.inputs.tables(weights)
    labels = torch.from_numpy(task.label(sequences)).to(device())
    length = next(array.shape[1] for array in sequences.values() if array.ndim > 1)
    models = len(next(iter(weights.values())))
    right = {temperature: torch.zeros(models, dtype=torch.int64, device=device()) for temperature in TEMPERATURES}
    for part, batch in _batches(weights, sequences, length):
        logits, hidden = network.attend(weights, batch, tables)
        beta = adaptive_beta(entropy(logits)).unsqueeze(-1)
        for temperature, scaled in zip(TEMPERATURES, (logits, logits * beta), strict=True):
            average = average_hidden(torch.softmax(scaled, dim=-1), hidden)
            outputs = network.normalise(weights, network.outputs(weights, average))
            answers = network.read_out(weights, outputs).argmax(-1)
            right[temperature] += (answers == labels[part]).sum(-1)
    return {temperature: count.cpu().numpy() / len(labels) for temperature, count in right.items()}


@torch.no_grad()
def diagnose(plan: Plan, weights: Weights, report: Report = lambda lengths: None) -> dict[str, pd.DataFrame]:
    """Look inside one model (S = 1) at every length, on sequences of a stream of their own; tidy frames by name.

    `moments`: length, where (`before` or `after` the normaliser), and of the global mean and global variance of O
    (Section 2: over the D features of one output), the mean over sequences and its standard error.
    `features`: length, where, feature, value: individual features of O, one row a sequence and feature.
    `attention`: length, sequence, rank (from 1), weight: the largest attention weights.
    """
    network, task, how = plan.variant.network(), plan.variant.task, plan.diagnostics
    tables = network.inputs.tables(weights)
    moments, features, attention = [], [], []
    for length in plan.lengths:
        rng = stream(plan.root, "diagnostics", plan.variant.task_name, length)
        outputs: dict[str, list[Tensor]] = {"before": [], "after": []}
        largest: list[Tensor] = []
        for drawn in _pieces(task, rng, how.sequences, length):
            for _, batch in _batches(weights, drawn, length):
                logits, hidden = network.attend(weights, batch, tables)
                weight = torch.softmax(logits, dim=-1)
                before = network.outputs(weights, average_hidden(weight, hidden))
                outputs["before"].append(before[0].cpu())
                outputs["after"].append(network.normalise(weights, before)[0].cpu())
                if sum(map(len, largest)) < how.heatmap_sequences:
                    largest.append(weight[0].topk(min(LARGEST_WEIGHTS, length)).values.cpu())
        for where, parts in outputs.items():
            values = torch.cat(parts).double()
            moments.append({"length": length, "where": where, **_moments(values)})
            features.append(_feature_rows(values[:, :FEATURES_SHOWN].numpy(), length, where))
        attention.append(_attention_rows(torch.cat(largest)[: how.heatmap_sequences].numpy(), length))
        report(1)
    return {
        "moments": pd.DataFrame(moments),
        "features": pd.concat(features, ignore_index=True),
        "attention": pd.concat(attention, ignore_index=True),
    }


def _to_device(weights: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array).to(device()) for name, array in weights.items()}


def _batches(weights: Weights, sequences: Sequences, length: int) -> Iterator[tuple[slice, dict[str, Tensor]]]:
    """The sequences in parts of bounded size, each array with a seed axis of one: (1, B, ...)."""
    seeds = len(next(iter(weights.values())))
    size = max(1, ITEMS_AT_ONCE[device().type] // (length * seeds))
    for first in range(0, len(sequences["target"]), size):
        part = slice(first, first + size)
        yield part, {name: torch.from_numpy(array[part]).to(device())[None] for name, array in sequences.items()}


def _pieces(task: Task, rng: np.random.Generator, sequences: int, length: int) -> Iterator[Sequences]:
    """Sequences of one stream, a bounded number of items at a time: a larger `sequences` begins as a smaller one."""
    piece = max(1, 2**20 // length)
    for first in range(0, sequences, piece):
        drawn = task.sample(rng, piece, length)
        yield {name: array[: sequences - first] for name, array in drawn.items()}


def _moments(outputs: Tensor) -> dict[str, float]:
    """Global mean and global variance of outputs (sequences, D): mean over sequences and standard error of it."""
    root = len(outputs) ** 0.5
    mean, variance = outputs.mean(1), outputs.var(1, correction=0)
    return {
        "mean": mean.mean().item(),
        "mean_se": mean.std().item() / root,
        "variance": variance.mean().item(),
        "variance_se": variance.std().item() / root,
    }


def _feature_rows(values: np.ndarray, length: int, where: str) -> pd.DataFrame:
    sequences, shown = values.shape
    feature = np.tile(np.arange(shown, dtype=np.int8), sequences)
    columns = {"length": length, "where": where, "feature": feature, "value": values.ravel().astype(np.float32)}
    return pd.DataFrame(columns)


def _attention_rows(weights: np.ndarray, length: int) -> pd.DataFrame:
    sequences, ranks = weights.shape
    sequence, rank = np.divmod(np.arange(sequences * ranks), ranks)
    return pd.DataFrame({"length": length, "sequence": sequence, "rank": rank + 1, "weight": weights.ravel()})
