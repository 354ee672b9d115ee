"""Testing trained models: accuracy with and without the adaptive temperature, and a look inside (Figures 2 to 4).

S seeds, B sequences, N items, D width, L lengths.

A sequence is gone through once for the logits, their entropy and the plain output, and once more for each adaptive
temperature that sharpens any sequence of the batch. What is kept for an item is its logit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from vanishing_variance import parallel
from vanishing_variance.device import device
from vanishing_variance.model.attention import attend
from vanishing_variance.model.items import Items
from vanishing_variance.model.network import Network, Weights
from vanishing_variance.model.temperature import PUBLISHED, Temperature, entropy
from vanishing_variance.model.variant import Variant
from vanishing_variance.parallel import Job, Report
from vanishing_variance.params.diagnostics import Diagnostics
from vanishing_variance.progress import Progress
from vanishing_variance.seeding import stream
from vanishing_variance.tasks.base import Sequences, Task

# A batch of sequences has about this many items in all, so that what is done once a batch is little beside the items.
ITEMS_IN_BATCH = {"cpu": 2**16, "cuda": 2**20}

# The test sequences of one length, at most so many at a time.
Read = Callable[[int], Iterator[Sequences]]

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
    fitted: Temperature


def evaluate_block(
    plan: Plan, weights: Mapping[str, np.ndarray], seeds: Sequence[int], sequences: Mapping[int, Read]
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
    sequences: Mapping[int, Read],
    report: Report,
) -> pd.DataFrame:
    models = Models.of(plan.variant, weights)
    rows: list[tuple[int, str, int, float]] = []
    for length in plan.lengths:
        for temperature, fractions in models.accuracy(sequences[length], length, plan.fitted).items():
            rows.extend((seed, temperature, length, one) for seed, one in zip(seeds, fractions, strict=True))
        report(1)
    frame = pd.DataFrame(rows, columns=["seed", "temperature", "length", "accuracy"])
    return frame.sort_values(["seed", "temperature", "length"], ignore_index=True)


def _diagnose_part(plan: Plan, weights: Mapping[str, np.ndarray], report: Report) -> dict[str, pd.DataFrame]:
    return diagnose(plan, Models.of(plan.variant, weights), report)


@dataclass(frozen=True)
class Models:
    """Trained models of one variant, ready to be asked: what they look up is computed once."""

    task: Task
    network: Network
    weights: Weights
    tables: Weights

    @classmethod
    @torch.no_grad()
    def of(cls, variant: Variant, weights: Mapping[str, np.ndarray]) -> "Models":
        """The models with these weights, on the device."""
        network = variant.network()
        on_device = {name: torch.from_numpy(array).to(device()) for name, array in weights.items()}
        return cls(variant.task, network, on_device, network.inputs.tables(on_device))

    @property
    def batch_items(self) -> int:
        """How many items a batch may have."""
        return ITEMS_IN_BATCH[device().type] // len(next(iter(self.weights.values())))

    def ask(self, sequences: Sequences) -> tuple[Items, Tensor]:
        """`Network.ask`, of sequences that all models share."""
        batch = {name: torch.from_numpy(array).to(device())[None] for name, array in sequences.items()}
        return self.network.ask(self.weights, batch, self.tables)

    @torch.no_grad()
    def accuracy(self, sequences: Read, length: int, fitted: Temperature) -> dict[str, np.ndarray]:
        """The fraction of right answers of each model, (S,) float64, by temperature.

        `plain`: the softmax; `adaptive`: the published polynomial of Veličković et al.; `fitted`: our own.
        """
        models, temperatures = len(next(iter(self.weights.values()))), {"adaptive": PUBLISHED, "fitted": fitted}
        right, tested = {name: np.zeros(models) for name in ("plain", *temperatures)}, 0
        for part in sequences(max(1, self.batch_items // length)):
            labels = torch.from_numpy(self.task.label(part)).to(device())
            items, direction = self.ask(part)
            logits, plain = attend(items, direction)
            averages, spread = {"plain": plain}, entropy(logits)
            for name, temperature in temperatures.items():
                beta = temperature.beta(spread).unsqueeze(-1)
                averages[name] = attend(items, direction * beta)[1] if (beta > 1).any() else plain
            for name, average in averages.items():
                outputs = self.network.normalise(self.weights, self.network.outputs(self.weights, average))
                answers = self.network.read_out(self.weights, outputs).argmax(-1)
                right[name] += (answers == labels).sum(-1).cpu().numpy()
            tested += len(labels)
        return {temperature: count / tested for temperature, count in right.items()}


@torch.no_grad()
def diagnose(plan: Plan, models: Models, report: Report = lambda lengths: None) -> dict[str, pd.DataFrame]:
    """Look inside one model (S = 1) at every length, on sequences of a stream of their own; tidy frames by name.

    `moments`: length, where (`before` or `after` the normaliser), and of the global mean and global variance of O
    (Section 2: over the D features of one output), the mean over sequences and its standard error.
    `features`: length, where, feature, value: individual features of O, one row a sequence and feature.
    `attention`: length, sequence, rank (from 1), weight: the largest attention weights.
    """
    how = plan.diagnostics
    moments, features, attention = [], [], []
    for length in plan.lengths:
        rng = stream(plan.root, "diagnostics", plan.variant.task_name, length)
        outputs: dict[str, list[Tensor]] = {"before": [], "after": []}
        largest: list[Tensor] = []
        for part in pieces(models.task, rng, how.sequences, length, max(1, models.batch_items // length)):
            logits, average = attend(*models.ask(part))
            before = models.network.outputs(models.weights, average)
            outputs["before"].append(before[0].cpu())
            outputs["after"].append(models.network.normalise(models.weights, before)[0].cpu())
            if sum(map(len, largest)) < how.heatmap_sequences:
                weight = torch.softmax(logits[0], dim=-1)
                largest.append(weight.topk(min(LARGEST_WEIGHTS, length)).values.cpu())
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


def pieces(task: Task, rng: np.random.Generator, sequences: int, length: int, size: int) -> Iterator[Sequences]:
    """Sequences of one stream, at most `size` at a time.

    They are drawn a fixed number at a time, so that a larger `sequences` begins as a smaller one.
    """
    piece = max(1, 2**20 // length)
    for drawn_before in range(0, sequences, piece):
        drawn = task.sample(rng, piece, length)
        wanted = min(piece, sequences - drawn_before)
        for first in range(0, wanted, size):
            yield {name: array[first : min(first + size, wanted)] for name, array in drawn.items()}


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
